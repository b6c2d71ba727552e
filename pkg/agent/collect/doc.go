// Package collect is the agent's loop. Each step reads the GPUs and the pods that hold them, and publishes a Picture:
// figures of devices and pods over the window, and their means over the last hour. Handlers serve the newest picture
// without calling the driver; a Prometheus that missed scrapes and an agent that was restarted fill the gap from the hour.
package collect
