"""Prove on a real kind cluster that a Kubernetes scheduler does what the documentation says.

The engine behind the pytest plugin (``fixtures/``) and the command line: plain Python that never imports pytest.
"""

__version__ = "0.1.0"
