// Command pause holds the namespaces of a pod: it sleeps until it is told to end, and collects dead children, since it is the first
// process of pods that share a process namespace. It stands in for the image that kubeadm calls pause, whose source is C.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version is that of the image's name, stamped by the build.
var version = "unknown"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("schedproof's pause, in the place of pause " + version)
		return
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for signalled := range signals {
		if signalled != syscall.SIGCHLD {
			return
		}
		for {
			// Several children may have died behind one signal.
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
