"""Who bound a pod: the join of event, audit log and spec, and the invariants every claim keeps."""
