"""How a scheduler is deployed: Deployment, Pod, static Pod, systemd service, in place of the default one."""
