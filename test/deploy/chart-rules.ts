import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Ajv } from 'ajv'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { operationList } from '../../src/api/operation-list.ts'
import { environmentOf, isSecret, optionKeys, options } from '../../src/config.ts'
import {
  chart,
  defaultValues,
  type Json,
  type JsonObject,
  type Manifest,
  renderChart,
  valuesSchema,
  withValues,
} from './chart.ts'

/** Values that together reach each branch of the templates. */
const cases: Readonly<Record<string, JsonObject>> = {
  'default values': {},
  'a single pod without a Secret': {
    existingSecret: '',
    image: { tag: '9.9.9' },
    single: { volume: { storageClass: 'fast' } },
    ingress: { enabled: true, annotations: {}, tlsSecretName: '' },
    metrics: { serviceMonitor: { enabled: true } },
    networkPolicy: { enabled: false },
    shutdownSeconds: 20,
  },
  'a cluster': { mode: 'cluster', ingress: { enabled: true } },
  'a cluster with everything': {
    mode: 'cluster',
    cluster: {
      replicas: 5,
      postgres: { secretName: 'database', secretKey: 'url' },
      nats: { secretName: 'bus', secretKey: 'url' },
    },
    imagePullSecrets: [{ name: 'registry' }],
    settings: { WEFT_LOG_LEVEL: 'debug', WEFT_CALLS_PER_KEY: '400:10000' },
    shutdownSeconds: 60,
    ingress: { enabled: true, annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' } },
    metrics: {
      token: { secretName: 'weft-metrics', secretKey: 'token' },
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    },
    networkPolicy: {
      clients: [{ podSelector: { matchLabels: { app: 'backend' } } }],
      database: { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] },
      bus: { to: [{ podSelector: { matchLabels: { app: 'nats' } } }] },
      publicPorts: [443, 80],
      egress: [{ to: [{ podSelector: {} }], ports: [{ port: 8080 }] }],
    },
    podAnnotations: { 'example.com/on': 'on' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'weft', operator: 'Exists' }],
  },
  'a cluster without optional objects': {
    mode: 'cluster',
    cluster: { podDisruptionBudget: { enabled: false } },
    networkPolicy: { enabled: false },
  },
}

const validators = {
  'v1 Service': Service,
  'apps/v1 StatefulSet': StatefulSet,
  'apps/v1 Deployment': Deployment,
  'policy/v1 PodDisruptionBudget': PodDisruptionBudget,
  'networking.k8s.io/v1 Ingress': Ingress,
  'networking.k8s.io/v1 NetworkPolicy': NetworkPolicy,
  'monitoring.coreos.com/v1 ServiceMonitor': ServiceMonitor,
} as const

/** Returns the value below a path of members. */
function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (here, name) =>
      typeof here === 'object' && here !== null ? (here as JsonObject)[name as string] : undefined,
    value,
  )
}
const listAt = (value: Json | undefined, ...path: readonly (string | number)[]): readonly JsonObject[] =>
  (at(value, ...path) ?? []) as unknown as readonly JsonObject[]

const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((each) => each.kind === kind)
function workloadOf(manifests: readonly Manifest[]): Manifest {
  const [workload, ...others] = manifests.filter(({ kind }) => /^(StatefulSet|Deployment)$/.test(kind))
  if (workload === undefined || others.length > 0) throw new Error('there must be one workload')
  return workload
}
const podOf = (manifests: readonly Manifest[]): JsonObject =>
  at(workloadOf(manifests).spec, 'template', 'spec') as JsonObject
const containerOf = (manifests: readonly Manifest[]): JsonObject =>
  listAt(podOf(manifests), 'containers')[0] as JsonObject

/** Names of maps whose members are free. */
const freeMaps = ['labels', 'annotations', 'matchLabels', 'nodeSelector', 'requests', 'limits', 'data']
function membersOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    // The selector of a Service is also such a map.
    freeMaps.includes(name) || typeof at(each, 'app.kubernetes.io/name') === 'string'
      ? [name]
      : [name, ...membersOf(each)],
  )
}
/** Names of all members in the schemas of Kubernetes and of the Prometheus Operator, which contain `data.name`. */
const knownMembers = new Set(
  ['kubernetes-models', '@kubernetes-models/prometheus-operator', '@kubernetes-models/apimachinery']
    .map((name) => join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), '_schemas'))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.js'))
        .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/\bdata\.(\w+)/g)]),
    )
    .map(([, member]) => member as string),
)

const ajv = new Ajv({ strict: true, allErrors: true })
const validateValues = ajv.compile(valuesSchema)
const accepts = (changes: JsonObject): boolean => validateValues(withValues(defaultValues, changes))

describe.each(Object.entries(cases))('%s', (_, changes) => {
  const manifests = renderChart(changes)
  const pod = podOf(manifests)
  const container = containerOf(manifests)
  const isCluster = changes.mode === 'cluster'

  it('[IMG-10] has values that the schema accepts, and objects that the schemas of Kubernetes accept', () => {
    expect(validateValues(withValues(defaultValues, changes)), ajv.errorsText(validateValues.errors)).toBe(
      true,
    )
    for (const manifest of manifests) {
      const kind = `${manifest.apiVersion} ${manifest.kind}`
      const Model = validators[kind as keyof typeof validators] as new (
        data: unknown,
      ) => {
        validate(): void
      }
      expect(Model, kind).toBeDefined()
      expect(() => new Model(manifest).validate()).not.toThrow()
      const unknown = membersOf(manifest as unknown as Json).filter((name) => !knownMembers.has(name))
      expect(unknown).toEqual([])
    }
    const ids = manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('[IMG-11] all selectors match the labels of the pods, and all ports and services exist', () => {
    const labels = at(workloadOf(manifests).spec, 'template', 'metadata', 'labels') as JsonObject
    const selectors = [
      at(workloadOf(manifests).spec, 'selector', 'matchLabels'),
      at(ofKind(manifests, 'Service')[0]?.spec, 'selector'),
      ...ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => at(spec, 'selector', 'matchLabels')),
      ...ofKind(manifests, 'NetworkPolicy').map(({ spec }) => at(spec, 'podSelector', 'matchLabels')),
      ...listAt(pod, 'topologySpreadConstraints').map((each) => at(each, 'labelSelector', 'matchLabels')),
    ]
    for (const selector of selectors) {
      expect(Object.keys(selector as JsonObject)).toHaveLength(2)
      expect(labels).toMatchObject(selector as object)
    }
    const [service] = ofKind(manifests, 'Service')
    for (const { spec } of ofKind(manifests, 'ServiceMonitor'))
      expect(service?.metadata.labels).toMatchObject(at(spec, 'selector', 'matchLabels') as object)

    const ports = listAt(container, 'ports').map(({ name }) => name)
    expect(ports).toEqual(['http'])
    expect(at(container, 'ports', 0, 'containerPort')).toBe(options.port.default)
    expect(at(service?.spec, 'ports', 0, 'targetPort')).toBe('http')
    const backends = ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
      listAt(spec, 'rules', 0, 'http', 'paths').map((path) => at(path, 'backend', 'service')),
    )
    for (const backend of backends)
      expect(backend).toEqual({
        name: service?.metadata.name,
        port: { name: at(service?.spec, 'ports', 0, 'name') },
      })
    const allowed = ofKind(manifests, 'NetworkPolicy').flatMap(({ spec }) => listAt(spec, 'ingress'))
    for (const rule of allowed) expect(rule.ports).toEqual([{ port: 'http' }])
  })

  it('[IMG-12] pods have no privileges, no write access outside their volumes, probes, and resources', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    for (const member of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod[member]).toBeUndefined()
    const claims = listAt(workloadOf(manifests).spec, 'volumeClaimTemplates').map((each) =>
      at(each, 'metadata', 'name'),
    )
    const volumes = [...claims, ...listAt(pod, 'volumes').map(({ name }) => name)]
    const mounted = listAt(container, 'volumeMounts').map(({ name }) => name)
    expect(volumes.toSorted()).toEqual(mounted.toSorted())
    expect(claims).toEqual(isCluster ? [] : ['data'])
    const probed = (name: string): Json | undefined => at(container, name, 'httpGet', 'path')
    expect(['startupProbe', 'livenessProbe', 'readinessProbe'].map(probed)).toEqual([
      '/healthz',
      '/healthz',
      '/readyz',
    ])
    expect(at(container, 'resources', 'limits', 'memory')).toBeDefined()
    expect(at(container, 'resources', 'requests', 'cpu')).toBeDefined()
  })

  it('[IMG-13] Kubernetes waits for longer than a shutdown takes', () => {
    const variables = new Map(listAt(container, 'env').map(({ name, value }) => [name, value]))
    const seconds = Number(variables.get(environmentOf('shutdownSeconds')))
    expect(seconds).toBe(changes.shutdownSeconds ?? (isCluster ? 30 : options.shutdownSeconds.default))
    expect(pod.terminationGracePeriodSeconds).toBe(seconds + 15)
  })

  it('[IMG-14] sets existing options once, and takes secrets only from Secrets that the operator has created', () => {
    const known = optionKeys.map((key) => environmentOf(key))
    const variables = listAt(container, 'env')
    const names = variables.map(({ name }) => name as string)
    expect(names.filter((name) => !known.includes(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    const secrets = optionKeys.filter((key) => isSecret(key)).map((key) => environmentOf(key))
    for (const { name, value, valueFrom } of variables)
      if (secrets.includes(name as string)) {
        expect(value).toBeUndefined()
        expect(at(valueFrom, 'secretKeyRef', 'name')).toBeTruthy()
      }
    expect(ofKind(manifests, 'Secret')).toEqual([])
    expect(at(container, 'envFrom', 0, 'secretRef', 'name')).toBe(
      changes.existingSecret === '' ? undefined : 'weft',
    )
    if (isCluster)
      for (const name of ['WEFT_POSTGRES_URL', 'WEFT_NATS_URL', 'WEFT_NODE_NAME'])
        expect(names).toContain(name)
    expect(variables).toContainEqual({ name: 'WEFT_DEFAULT_ACCESS', value: 'restricted' })
  })
})

it('[IMG-10] has the kinds of objects of its mode', () => {
  const kindsOf = (changes: JsonObject): string[] =>
    renderChart(changes)
      .map(({ kind }) => kind)
      .toSorted()
  expect(kindsOf({})).toEqual(['NetworkPolicy', 'Service', 'StatefulSet'])
  expect(kindsOf(cases['a cluster with everything'] as JsonObject)).toEqual([
    'Deployment',
    'Ingress',
    'Ingress',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'ServiceMonitor',
  ])
  expect(kindsOf(cases['a cluster without optional objects'] as JsonObject)).toEqual([
    'Deployment',
    'Service',
  ])
})

it('[IMG-10] the schema of the values rejects misspelled members, secrets as values, and options that the chart sets', () => {
  const secrets = optionKeys.filter((key) => isSecret(key)).map((key) => environmentOf(key))
  expect(secrets.length).toBeGreaterThan(5)
  for (const name of [...secrets, 'WEFT_SHUTDOWN_SECONDS', 'WEFT_PORT', 'weft_debug'])
    expect([name, accepts({ settings: { [name]: 'x' } })]).toEqual([name, false])
  const wrong: readonly JsonObject[] = [
    { mode: 'Cluster' },
    { replicas: 3 },
    { cluster: { replica: 3 } },
    { cluster: { replicas: 0 } },
    { settings: { WEFT_TRUST_PROXY: 1 } },
    { single: { volume: { size: '20' } } },
    { ingress: { enabled: 'true' } },
    { existingSecret: 'Not a name' },
  ]
  expect(wrong.filter(accepts)).toEqual([])
})

it('[IMG-14] a cluster without a Secret is rejected with the reason', () => {
  expect(() => renderChart({ mode: 'cluster', existingSecret: '' })).toThrow(/needs existingSecret/)
})

it('[IMG-10] names of objects fit into 63 characters, also with a long name of the release', () => {
  const cluster = cases['a cluster with everything'] as JsonObject
  for (const release of ['docs', 'x'.repeat(53)])
    for (const { metadata } of renderChart(cluster, release)) {
      expect(metadata.name.length).toBeLessThanOrEqual(63)
      expect(metadata.labels['app.kubernetes.io/instance']).toBe(release)
    }
})

it('[IMG-10] the default image has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string
  }
  expect(chart.appVersion).toBe(version)
  expect(containerOf(renderChart({})).image).toBe(`weft:${version}`)
})

it('[RUN-9] the Ingress publishes the paths that clients need, but neither metrics nor backups', () => {
  const rules = ofKind(renderChart(cases['a cluster'] as JsonObject), 'Ingress').flatMap(({ spec }) =>
    listAt(spec, 'rules', 0, 'http', 'paths'),
  )
  const isPublished = (path: string): boolean =>
    rules.some(
      ({ path: own, pathType }) =>
        path === own || (pathType === 'Prefix' && path.startsWith(`${String(own)}/`)),
    )
  const clientPaths = [
    '/sync/acme/notes/main',
    '/sync-http/acme/notes/main',
    '/hocuspocus',
    '/client/weft-socket.js',
  ]
  for (const path of [...clientPaths, '/console', '/docs/reference', '/v2/crdt/get'])
    expect([path, isPublished(path)]).toEqual([path, true])
  for (const { path } of operationList) expect([path, isPublished(path)]).toEqual([path, true])
  for (const path of ['/metrics', '/backup', '/status', '/healthz'])
    expect([path, isPublished(path)]).toEqual([path, false])
})

it('[IMG-15] the Ingress keeps silent websockets, and sends a session over HTTP to one pod of a cluster', () => {
  const annotationsOf = (changes: JsonObject): readonly JsonObject[] =>
    ofKind(renderChart(changes), 'Ingress').map(
      ({ metadata }) => (metadata as unknown as { annotations?: JsonObject }).annotations ?? {},
    )
  const hash = 'nginx.ingress.kubernetes.io/upstream-hash-by'
  const [main, sessions] = annotationsOf(cases['a cluster'] as JsonObject)
  for (const each of [main, sessions])
    for (const name of ['read', 'send'])
      expect(Number(each?.[`nginx.ingress.kubernetes.io/proxy-${name}-timeout`])).toBeGreaterThanOrEqual(60)
  expect(main?.[hash]).toBeUndefined()
  expect(sessions?.[hash]).toBe('$arg_session')
  expect(annotationsOf({ ingress: { enabled: true } }).map((each) => each[hash])).toEqual([
    undefined,
    undefined,
  ])
})

it('[IMG-15] a cluster tolerates one voluntary disruption, spreads its pods, and replaces them one at a time', () => {
  const manifests = renderChart({ mode: 'cluster' })
  expect(ofKind(manifests, 'PodDisruptionBudget')[0]?.spec.maxUnavailable).toBe(1)
  expect(listAt(podOf(manifests), 'topologySpreadConstraints').map(({ topologyKey }) => topologyKey)).toEqual(
    ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'],
  )
  expect(workloadOf(manifests).spec).toMatchObject({
    replicas: 3,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  })
  // A budget for a single pod would block every drain of its machine.
  expect(ofKind(renderChart({}), 'PodDisruptionBudget')).toEqual([])
})

it('[IMG-16] the NetworkPolicy admits only named namespaces and peers, and lets no pod reach private addresses', () => {
  const policy = ofKind(renderChart({}), 'NetworkPolicy')[0]?.spec
  expect(policy?.policyTypes).toEqual(['Ingress', 'Egress'])
  const peers = listAt(policy, 'ingress').flatMap((rule) => listAt(rule, 'from'))
  expect(peers).toHaveLength(2)
  for (const peer of peers)
    expect(Object.keys(at(peer, 'namespaceSelector', 'matchLabels') as object)).toHaveLength(1)
  for (const rule of listAt(policy, 'egress')) expect(listAt(rule, 'to').length).toBeGreaterThan(0)
  const blocks = listAt(policy, 'egress').flatMap((rule) =>
    listAt(rule, 'to').flatMap(({ ipBlock }) => ipBlock ?? []),
  )
  expect(JSON.stringify(blocks)).toContain('169.254.0.0/16')
  const cluster = ofKind(renderChart({ mode: 'cluster' }), 'NetworkPolicy')[0]?.spec
  const ports = listAt(cluster, 'egress').flatMap((rule) => listAt(rule, 'ports').map(({ port }) => port))
  expect(ports).toEqual(expect.arrayContaining([53, 5432, 4222, 443]))
})
