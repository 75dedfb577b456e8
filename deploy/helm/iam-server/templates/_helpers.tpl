{{/* The name of every object: that of the release, which need not repeat the name of the chart. */}}
{{- define "iam-server.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels by which a selector finds pods: (list . COMPONENT). They never change. */}}
{{- define "iam-server.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: iam-server
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{/* The labels of an object: (list . COMPONENT). */}}
{{- define "iam-server.labels" -}}
{{- $root := first . -}}
{{ include "iam-server.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{/* What makes an object a part of the migration: (list . WEIGHT). All of them are removed when it has succeeded. */}}
{{- define "iam-server.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ last . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "iam-server.image" -}}
{{- with .Values.image -}}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) -}}
{{- with .digest -}}@{{ . }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "iam-server.pod-security" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "iam-server.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The connections that every pod may open: DNS and the database. */}}
{{- define "iam-server.egress" -}}
# DNS, to resolve the name of the database.
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: kube-system
      podSelector:
        matchLabels:
          k8s-app: kube-dns
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
- to:
    {{- toYaml .Values.networkPolicy.database | nindent 4 }}
  ports:
    - { protocol: TCP, port: {{ .Values.networkPolicy.databasePort }} }
{{- end -}}
