"""Study of softmax playouts: simulation balancing against uniform playouts in Breakthrough."""
