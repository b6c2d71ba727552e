// Package collect is the agent's loop. Each step reads the GPUs and the pods that hold them, and publishes a Picture:
// figures of devices and pods over the window. Handlers serve the newest picture without calling the driver.
package collect
