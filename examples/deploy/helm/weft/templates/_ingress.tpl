{{- define "weft.ingressPrefixes" -}}
{{- $name := include "weft.fullname" . -}}
{{- range $path := list "/sync" "/hocuspocus" "/client" "/v1" "/v2" "/mcp" "/console" "/docs" }}
- path: {{ $path }}
  pathType: Prefix
  backend:
    service:
      name: {{ $name }}
      port:
        name: http
{{- end }}
{{- range $path := list "/llms.txt" "/openapi.json" "/version" "/readyz" }}
- path: {{ $path }}
  pathType: Exact
  backend:
    service:
      name: {{ $name }}
      port:
        name: http
{{- end }}
{{- end -}}
