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
import { parse } from 'yaml'
import { mcpPath } from '../../src/capabilities/agents/mcp-limits.ts'
import { operationList } from '../../src/capabilities/list.ts'
import { environmentOf, isSecret, optionKeys, options } from '../../src/core/config/config.ts'
import { ConfigError, readConfig } from '../../src/core/config/read-config.ts'
import { readS3Settings } from '../../src/core/config/s3-settings.ts'
import { type PageSources, pageRoutes } from '../../src/rest/pages/page-list.ts'
import type { Services } from '../../src/rest/services.ts'
import { describedPaths } from '../../src/server/described-paths.ts'
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

const inBucket = {
  to: 's3://acme-backups/weft',
  every: '12h',
  keep: '3d',
  key: { secretName: 'weft-backups' },
  bucket: { secretName: 'bucket', endpoint: 'https://s3.example.com' },
}

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
      publicPorts: [443, 80],
      egress: [{ to: [{ podSelector: {} }], ports: [{ port: 8080 }] }],
    },
    podAnnotations: { 'example.com/on': 'on' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'weft', operator: 'Exists' }],
  },
  'a single pod with backups in a bucket': { backups: inBucket },
  'a cluster with backups in a volume': {
    mode: 'cluster',
    backups: { to: '/backups/weft', verify: 'new', key: { secretName: 'weft-backups' }, claimName: 'shared' },
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
/** The Service of all requests that need no fixed pod. */
const mainServiceOf = (manifests: readonly Manifest[]): Manifest | undefined =>
  ofKind(manifests, 'Service').find(({ metadata }) => metadata.name === workloadOf(manifests).metadata.name)
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
      ...ofKind(manifests, 'Service').map(({ spec }) => at(spec, 'selector')),
      ...ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => at(spec, 'selector', 'matchLabels')),
      ...ofKind(manifests, 'NetworkPolicy').map(({ spec }) => at(spec, 'podSelector', 'matchLabels')),
      ...listAt(pod, 'topologySpreadConstraints').map((each) => at(each, 'labelSelector', 'matchLabels')),
    ]
    for (const selector of selectors) {
      expect(Object.keys(selector as JsonObject)).toHaveLength(2)
      expect(labels).toMatchObject(selector as object)
    }
    const services = ofKind(manifests, 'Service')
    const service = mainServiceOf(manifests)
    // If the monitor selected several Services, Prometheus would read each pod several times.
    for (const { spec } of ofKind(manifests, 'ServiceMonitor')) {
      const selected = Object.entries(at(spec, 'selector', 'matchLabels') as object)
      expect(
        services.filter(({ metadata }) =>
          selected.every(([name, value]) => metadata.labels[name] === (value as string)),
        ),
      ).toEqual([service])
    }

    const ports = listAt(container, 'ports').map(({ name }) => name)
    expect(ports).toEqual(['http'])
    expect(at(container, 'ports', 0, 'containerPort')).toBe(options.port.default)
    for (const { spec } of services) expect(spec.ports).toEqual(service?.spec.ports)
    expect(at(service?.spec, 'ports', 0, 'targetPort')).toBe('http')
    const backends = ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
      listAt(spec, 'rules', 0, 'http', 'paths').map((path) => at(path, 'backend', 'service')),
    )
    for (const backend of backends) {
      expect(services.map(({ metadata }) => metadata.name)).toContain(at(backend, 'name'))
      expect(at(backend, 'port')).toEqual({ name: at(service?.spec, 'ports', 0, 'name') })
    }
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
    const ofBucket = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_ENDPOINT_URL_S3']
    const known = [...optionKeys.map((key) => environmentOf(key)), ...ofBucket]
    const variables = listAt(container, 'env')
    const names = variables.map(({ name }) => name as string)
    expect(names.filter((name) => !known.includes(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    const ofOptions = optionKeys.filter((key) => isSecret(key)).map((key) => environmentOf(key))
    const secrets = [...ofOptions, ...ofBucket.slice(0, 2)]
    for (const { name, value, valueFrom } of variables)
      if (secrets.includes(name as string)) {
        expect(value).toBeUndefined()
        expect(at(valueFrom, 'secretKeyRef', 'name')).toBeTruthy()
      }
    expect(ofKind(manifests, 'Secret')).toEqual([])
    expect(at(container, 'envFrom', 0, 'secretRef', 'name')).toBe(
      changes.existingSecret === '' ? undefined : 'weft',
    )
    if (isCluster) for (const name of ['WEFT_POSTGRES_URL', 'WEFT_NODE_NAME']) expect(names).toContain(name)
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
  // Only the paths of the pages are read. Their contents need a server.
  const pages = pageRoutes({ config: {} } as Services, {} as PageSources)
  // The probes of the cluster and the list of links are not for clients.
  const inside = ['/', '/healthz']
  const open = pages.filter(({ door, path }) => door === undefined && !inside.includes(path))
  expect(open.length).toBeGreaterThan(20)
  const paths = [
    ...open.map(({ path }) => path.replace(/\/$/, '')),
    ...operationList.map(({ path }) => path),
    ...describedPaths.map(({ path }) => path),
    '/sync/acme/notes/main',
    '/hocuspocus',
    mcpPath,
  ]
  expect(paths.filter((path) => !isPublished(path))).toEqual([])
  const closed = [...inside, ...pages.filter(({ door }) => door !== undefined).map(({ path }) => path)]
  expect(closed).toEqual(expect.arrayContaining(['/metrics', '/backup', '/status']))
  expect(closed.filter(isPublished)).toEqual([])
  // A file has no pages below it.
  expect(['/llms.txt', '/openapi.json'].filter((path) => isPublished(`${path}/x`))).toEqual([])
})

it('[IMG-15] the Ingress keeps silent websockets, and sends a session over HTTP to one pod of a cluster', () => {
  const annotationsOf = (changes: JsonObject): readonly JsonObject[] =>
    ofKind(renderChart(changes), 'Ingress').map(
      ({ metadata }) => (metadata as unknown as { annotations?: JsonObject }).annotations ?? {},
    )
  const hash = 'nginx.ingress.kubernetes.io/upstream-hash-by'
  const all = annotationsOf(cases['a cluster'] as JsonObject)
  for (const each of all)
    for (const name of ['read', 'send'])
      expect(Number(each[`nginx.ingress.kubernetes.io/proxy-${name}-timeout`])).toBeGreaterThanOrEqual(60)
  expect(all.map((each) => each[hash])).toEqual([undefined, '$arg_session'])
  expect(annotationsOf({ ingress: { enabled: true } }).map((each) => each[hash])).toEqual([
    undefined,
    undefined,
  ])
})

it('[IMG-31] no two Ingress objects of the chart share a Service, and each path of a session has the Ingress with its annotation', () => {
  // ingress-nginx names an upstream by Service and port, and takes the annotations of the first Ingress with that name.
  const found = ofKind(renderChart(cases['a cluster'] as JsonObject), 'Ingress').map(({ spec }) => {
    const paths = listAt(spec, 'rules', 0, 'http', 'paths')
    return {
      paths: paths.map(({ path }) => path),
      services: [...new Set(paths.map((each) => at(each, 'backend', 'service', 'name')))],
    }
  })
  expect(found.map(({ services }) => services)).toEqual([['weft'], ['weft-sessions']])
  expect(found.slice(1).map(({ paths }) => paths)).toEqual([['/sync-http']])
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
  expect(ports).toEqual(expect.arrayContaining([53, 5432, 443]))
  // The nodes forward requests to each other.
  const own = { podSelector: { matchLabels: at(cluster, 'podSelector', 'matchLabels') } }
  expect(listAt(cluster, 'ingress').flatMap((rule) => listAt(rule, 'from'))).toContainEqual(own)
  expect(listAt(cluster, 'egress').flatMap((rule) => listAt(rule, 'to'))).toContainEqual(own)
})

it('[IMG-32] the NetworkPolicy admits DNS at the address of NodeLocal DNSCache, and no other port of it', () => {
  const rules = listAt(ofKind(renderChart({}), 'NetworkPolicy')[0]?.spec, 'egress')
  const withCache = rules.filter((rule) =>
    listAt(rule, 'to').some((peer) => at(peer, 'ipBlock', 'cidr') === '169.254.20.10/32'),
  )
  expect(withCache).toHaveLength(1)
  expect(withCache[0]?.ports).toEqual([
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ])
  expect(withCache[0]?.to).toContainEqual({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  })
})

it('[IMG-32] the values of the documentation are accepted, and let pods reach a collector and a bucket', () => {
  const chapter = readFileSync(join(import.meta.dirname, '../../src/docs/deployment.md'), 'utf8')
  const [, section = ''] = chapter.split('\n## Kubernetes\n')
  const examples = [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text]) => parse(text as string) as JsonObject,
  )
  expect(examples.length).toBeGreaterThan(1)
  for (const each of examples) expect([each, accepts(each)]).toEqual([each, true])
  const policies = examples.flatMap((each) => ofKind(renderChart(each), 'NetworkPolicy'))
  for (const policy of policies) expect(() => new NetworkPolicy(policy as never).validate()).not.toThrow()
  const toNamespaces = policies.flatMap(({ spec }) =>
    listAt(spec, 'egress').flatMap((rule) =>
      listAt(rule, 'to').map((peer) => [
        at(peer, 'namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name'),
        at(rule, 'ports', 0, 'port'),
      ]),
    ),
  )
  expect(toNamespaces).toContainEqual(['monitoring', 4318])
  expect(toNamespaces).toContainEqual(['minio', 9000])
})

describe('backups of the chart', () => {
  /** Reads the variables of a pod as the server does. Each Secret has the given text. */
  function settingsOf(changes: JsonObject) {
    const variables = listAt(containerOf(renderChart(changes)), 'env').filter(({ name }) =>
      /^(WEFT_BACKUP|AWS)_/.test(name as string),
    )
    const environment = Object.fromEntries(
      variables.map(({ name, value }) => [name as string, (value ?? 'ab'.repeat(32)) as string]),
    )
    const { config } = readConfig({ flags: {}, environment, file: null })
    return { config, s3: 'AWS_REGION' in environment ? readS3Settings(environment) : null }
  }

  it('[IMG-33] gives the server a schedule of backups in a bucket or a volume, which it accepts', () => {
    expect(settingsOf({})).toMatchObject({ config: { backupTo: null }, s3: null })
    expect(settingsOf({ backups: inBucket })).toMatchObject({
      config: {
        backupTo: 's3://acme-backups/weft',
        backupEvery: '12h',
        backupKeep: '3d',
        backupVerify: 'all',
      },
      s3: { endpoint: 'https://s3.example.com', region: 'us-east-1', accessKeyId: 'ab'.repeat(32) },
    })
    const changes = cases['a cluster with backups in a volume'] as JsonObject
    expect(settingsOf(changes)).toMatchObject({
      config: { backupTo: '/backups/weft', backupEvery: '24h', backupKeep: '7d,4w,12m', backupVerify: 'new' },
      s3: null,
    })
    const pod = podOf(renderChart(changes))
    expect(listAt(pod, 'volumes')).toContainEqual({
      name: 'backups',
      persistentVolumeClaim: { claimName: 'shared' },
    })
    expect(listAt(pod, 'containers', 0, 'volumeMounts')).toContainEqual({
      name: 'backups',
      mountPath: '/backups',
    })
  })

  it('[IMG-33] the schema rejects backups without a key, without credentials of the bucket, or without a volume', () => {
    expect(accepts({ backups: inBucket })).toBe(true)
    const wrong: readonly JsonObject[] = [
      { ...inBucket, key: { secretName: '' } },
      { ...inBucket, bucket: { secretName: '' } },
      { ...inBucket, claimName: 'shared' },
      { ...inBucket, to: '/backups' },
      { ...inBucket, to: '/elsewhere', claimName: 'shared' },
      { ...inBucket, to: 'https://bucket.example.com' },
      { ...inBucket, every: '1 day' },
      { ...inBucket, keep: 'all' },
      { ...inBucket, verify: 'none' },
      { claimName: 'shared' },
    ]
    expect(wrong.filter((backups) => accepts({ backups }))).toEqual([])
  })

  it('[IMG-34] the schema and the server accept the same intervals and the same rules for keeping backups', () => {
    const serverAccepts = (changes: JsonObject): boolean => {
      try {
        settingsOf(changes)
        return true
      } catch (err) {
        if (err instanceof ConfigError) return false
        throw err
      }
    }
    const values = {
      every: {
        accepted:
          '1m|9m|10m|99999m|100000m|499999m|519999m|526999m|527039m|527040m|1h|24h|999h|1000h|7999h|8699h|8779h|8784h|1d|99d|299d|359d|366d',
        rejected:
          '527041m|527050m|528000m|530000m|600000m|999999m|1000000m|0m|010m|8785h|8790h|8800h|9000h|10000h|999999h|0h|367d|370d|400d|1000d|999999d|0d|24|h|24H|24h |24hm|1w|-1d|1.5d|24h,1d',
      },
      keep: {
        accepted: '7d|4w|12m|9999y|7d,4w,12m|1y,2m,3w,4d|7d,7w,7m,7y',
        rejected:
          '7d,7d|7d,4w,12d|1d,2w,3m,4y,5d|1w,2w|1m,2m|1y,2w,3y|0d|07d|10000d|7d,0w|7|d|7d,|,7d|7d;4w|7D|7h|-7d|all',
      },
    }
    const disagreed = Object.entries(values).flatMap(([name, lists]) =>
      Object.entries(lists).flatMap(([list, text]) =>
        text.split('|').flatMap((value) => {
          const changes = { backups: { ...inBucket, [name]: value } }
          const expected = list === 'accepted'
          const found = { schema: accepts(changes), server: serverAccepts(changes) }
          return found.schema === expected && found.server === expected ? [] : [{ name, value, ...found }]
        }),
      ),
    )
    expect(disagreed).toEqual([])
  })
})
