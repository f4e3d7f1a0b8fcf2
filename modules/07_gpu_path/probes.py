PROBES = []
