"""Reading what people write: YAML with places, JSON Schema, bundles on disk, findings and their renderers."""
