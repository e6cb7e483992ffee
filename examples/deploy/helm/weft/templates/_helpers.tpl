{{- define "weft.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "weft.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weft.labels" -}}
{{ include "weft.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "weft.shutdownSeconds" -}}
{{- if .Values.shutdownSeconds -}}
{{- int .Values.shutdownSeconds -}}
{{- else if eq .Values.mode "cluster" -}}
30
{{- else -}}
8
{{- end -}}
{{- end -}}

{{- /* The template of the pods, for both modes. */ -}}
{{- define "weft.pod" -}}
metadata:
  labels:
    {{- include "weft.labels" . | nindent 4 }}
  {{- if or .Values.podAnnotations (not .Values.metrics.serviceMonitor.enabled) }}
  annotations:
    {{- if not .Values.metrics.serviceMonitor.enabled }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: '8787'
    prometheus.io/path: /metrics
    {{- end }}
    {{- range $name, $value := .Values.podAnnotations }}
    {{ $name }}: {{ $value | quote }}
    {{- end }}
  {{- end }}
spec:
  # The server needs WEFT_SHUTDOWN_SECONDS. It needs no preStop hook: a stopping pod of a cluster first continues to serve,
  # while its /readyz returns 503.
  terminationGracePeriodSeconds: {{ add (include "weft.shutdownSeconds" .) 15 }}
  automountServiceAccountToken: false
  # Otherwise Kubernetes sets WEFT_PORT to the address of the service, which is not a port.
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .Values.mode "cluster" }}
  # Spread the pods over machines and zones, if there are several.
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weft.selector" . | nindent 10 }}
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weft.selector" . | nindent 10 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    # The user `node` of the image. It must have write access to the volume.
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: weft
      image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      ports:
        - name: http
          containerPort: 8787
      env:
        - name: WEFT_HOST
          value: 0.0.0.0
        - name: WEFT_SHUTDOWN_SECONDS
          value: {{ include "weft.shutdownSeconds" . | quote }}
        {{- if eq .Values.mode "cluster" }}
        - name: WEFT_ENGINE
          value: postgres
        - name: WEFT_NODE_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        - name: WEFT_POSTGRES_URL
          valueFrom:
            secretKeyRef:
              name: {{ default .Values.existingSecret .Values.cluster.postgres.secretName }}
              key: {{ .Values.cluster.postgres.secretKey }}
        {{- end }}
        {{- if .Values.metrics.token.secretName }}
        - name: WEFT_METRICS_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ .Values.metrics.token.secretName }}
              key: {{ .Values.metrics.token.secretKey }}
        {{- end }}
        {{- with .Values.backups }}
        {{- if .to }}
        - name: WEFT_BACKUP_TO
          value: {{ .to | quote }}
        - name: WEFT_BACKUP_EVERY
          value: {{ .every | quote }}
        - name: WEFT_BACKUP_KEEP
          value: {{ .keep | quote }}
        - name: WEFT_BACKUP_VERIFY
          value: {{ .verify | quote }}
        - name: WEFT_BACKUP_KEY
          valueFrom:
            secretKeyRef:
              name: {{ .key.secretName }}
              key: {{ .key.secretKey }}
        {{- if not .claimName }}
        - name: AWS_ACCESS_KEY_ID
          valueFrom:
            secretKeyRef:
              name: {{ .bucket.secretName }}
              key: AWS_ACCESS_KEY_ID
        - name: AWS_SECRET_ACCESS_KEY
          valueFrom:
            secretKeyRef:
              name: {{ .bucket.secretName }}
              key: AWS_SECRET_ACCESS_KEY
        - name: AWS_REGION
          value: {{ .bucket.region | quote }}
        {{- if .bucket.endpoint }}
        - name: AWS_ENDPOINT_URL_S3
          value: {{ .bucket.endpoint | quote }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      {{- if .Values.existingSecret }}
      envFrom:
        - secretRef:
            name: {{ .Values.existingSecret }}
      {{- end }}
      # A large store takes time to open: this probe waits up to two minutes.
      startupProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 2
        failureThreshold: 60
      # Checks whether the process is alive. Do not use /readyz: a restart repairs neither a full disk nor a database.
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # 503 while the store is not available, and from the start of a shutdown.
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ if eq .Values.mode "cluster" }}1{{ else }}3{{ end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        privileged: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: data
          mountPath: /data
        - name: tmp
          mountPath: /tmp
        {{- if .Values.backups.claimName }}
        - name: backups
          mountPath: /backups
        {{- end }}
  volumes:
    {{- if eq .Values.mode "cluster" }}
    # All durable data is in the database.
    - name: data
      emptyDir: {}
    {{- end }}
    - name: tmp
      emptyDir: {}
    {{- if .Values.backups.claimName }}
    - name: backups
      persistentVolumeClaim:
        claimName: {{ .Values.backups.claimName }}
    {{- end }}
{{- end -}}
