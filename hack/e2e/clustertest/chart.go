package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// Helm runs the real helm against the cluster.
func (c *Cluster) Helm(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, c.Components.Helm, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	command.Dir = c.Components.Root
	command.Env = append(os.Environ(), "HOME="+c.Dir)
	out, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// InstallChart installs the chart as the release forewarm and routes its Service to the replicas, as Install does.
func (c *Cluster) InstallChart(ctx context.Context, values ...string) error {
	args := []string{
		"install",
		"forewarm",
		"deploy/charts/forewarm",
		"--namespace",
		forewarmNamespace,
		"--create-namespace",
	}
	if _, err := c.Helm(ctx, append(args, values...)...); err != nil {
		return err
	}
	return c.join(ctx)
}

// StartDeployed starts one more replica, with the arguments, environment and mounts of Forewarm's Deployment. What is of this
// machine is added: addresses and the kubeconfig of the account.
func (c *Cluster) StartDeployed(ctx context.Context, name string) (*Replica, error) {
	text, err := c.Kubectl(ctx, "", "get", "deployment", "forewarm", "-n", forewarmNamespace, "-o", "json")
	if err != nil {
		return nil, err
	}
	var deployed apps.Deployment
	if err = json.Unmarshal([]byte(text), &deployed); err != nil {
		return nil, fmt.Errorf("read the Deployment: %w", err)
	}
	pod := &deployed.Spec.Template.Spec
	container := &pod.Containers[0]
	args := strings.Join(container.Args[1:], "\n") // The first is serve.
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		folder, err := c.mount(ctx, pod.Volumes, mount, name)
		if err != nil {
			return nil, err
		}
		args = strings.ReplaceAll(args, "="+mount.MountPath+"/", "="+folder+"/")
	}
	var environment []string
	for i := range container.Env {
		environment = append(environment, container.Env[i].Name+"="+container.Env[i].Value)
	}
	return c.startForewarm(ctx, name, c.Components.Forewarm, environment, append(strings.Split(args, "\n"),
		c.servicePort())...)
}

// mount writes the files of a Secret that a pod would mount, and returns their folder.
func (c *Cluster) mount(
	ctx context.Context, volumes []core.Volume, mount *core.VolumeMount, replica string,
) (string, error) {
	folder := filepath.Join(c.Dir, replica+"-"+mount.Name)
	for i := range volumes {
		if volumes[i].Name != mount.Name || volumes[i].Secret == nil {
			continue
		}
		text, err := c.Kubectl(ctx, "", "get", "secret", volumes[i].Secret.SecretName, "-n", forewarmNamespace, "-o",
			"json")
		if err != nil {
			return "", err
		}
		var secret core.Secret
		if err := json.Unmarshal([]byte(text), &secret); err != nil {
			return "", fmt.Errorf("read the Secret of the volume %s: %w", mount.Name, err)
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", fmt.Errorf("mount the volume %s: %w", mount.Name, err)
		}
		for file, data := range secret.Data {
			if err := os.WriteFile(filepath.Join(folder, file), data, 0o600); err != nil {
				return "", fmt.Errorf("mount the volume %s: %w", mount.Name, err)
			}
		}
		return folder, nil
	}
	return "", fmt.Errorf("the volume %s is no Secret", mount.Name)
}

// Certificate makes a Secret with a serving certificate for Forewarm's Service, by the cluster's own authority, and returns that.
func (c *Cluster) Certificate(ctx context.Context, secret string) (authority []byte, err error) {
	own, err := c.authority.issue(secret, "forewarm", nil, forewarmService+"."+forewarmNamespace+".svc")
	if err != nil {
		return nil, err
	}
	_, err = c.Kubectl(ctx, "", "create", "secret", "generic", secret, "-n", forewarmNamespace,
		"--from-file=tls.crt="+own.certificate, "--from-file=tls.key="+own.key,
		"--from-file=ca.crt="+c.authority.file())
	return c.authority.pem, err
}
