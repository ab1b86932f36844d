"""Programs that wait for a pod to be bound, one a way of waiting; each imports only what that way needs."""
