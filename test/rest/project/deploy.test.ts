import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf, isSecret, optionKeys, options } from '../../../src/core/config/config.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import type { TestServer } from '../../support/servers/server.ts'

const folder = join(import.meta.dirname, '../../..', 'examples', 'deploy')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const ofCluster = ['compose.yaml', 'README.md'].map((name) => `cluster/${name}`)
const deployments = ['weft.service', 'compose.yaml', 'README.md', 'helm/weft/README.md', ...ofCluster]

/** A server of a cluster, whose metrics include those of a single server. */
let server: TestServer
let stop: () => Promise<void>
/** The type of each metric of `/metrics`. */
let types: ReadonlyMap<string, string>
beforeAll(async () => {
  const cluster = await startCluster(2)
  stop = cluster.stop
  server = cluster.any()
  const text = await (await fetch(`${server.url}/metrics`)).text()
  types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
})
afterAll(() => stop?.())

/** Names of the series that Prometheus stores. */
function seriesNames(): ReadonlySet<string> {
  const suffixes = (type: string): string[] => (type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''])
  return new Set([...types].flatMap(([name, type]) => suffixes(type).map((suffix) => name + suffix)))
}

const namedIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\b(?:weft|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name)),
]

describe.each(['monitoring/alerts.yml', 'monitoring/dashboard.json'])('%s', (file) => {
  it('[OPS-30] uses only existing metrics', () => {
    const names = namedIn(read(file))
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !seriesNames().has(name))).toEqual([])
  })

  it('[OPS-30] uses counters only as rates, and never uses other metrics as rates', () => {
    const counted = (name: string): boolean =>
      types.get(name) === 'counter' || /_(bucket|count|sum)$/.test(name)
    const text = read(file)
    const grown = [...text.matchAll(/\b(?:rate|increase)\(([a-z0-9_]+)/g)].map(([, name = '']) => name)
    expect(grown.length).toBeGreaterThan(3)
    expect(grown.filter((name) => !counted(name))).toEqual([])
    const others = text.replaceAll(/\b(?:rate|increase)\([a-z0-9_]+/g, '')
    expect(namedIn(others).filter(counted)).toEqual([])
  })
})

it('[OPS-30] gives each alert of the two alert files a unique name, because a cluster uses both files', () => {
  const names = ['monitoring/alerts.yml', 'cluster/alerts.yml'].flatMap((file) =>
    [...read(file).matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name),
  )
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('[OPS-30] shows every metric of Weft in the dashboard', () => {
  const shown = namedIn(read('monitoring/dashboard.json')).map((name) => name.replace(/_(bucket|count)$/, ''))
  const ours = [...types.keys()].filter((name) => name.startsWith('weft_'))
  expect(ours.filter((name) => !shown.includes(name))).toEqual([])
})

it('[OPS-31] gives each panel of the dashboard its own position', () => {
  const { panels } = JSON.parse(read('monitoring/dashboard.json')) as {
    panels: readonly { id: number; gridPos: { x: number; y: number } }[]
  }
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x},${y}`)).size).toBe(panels.length)
})

describe.each(deployments)('%s', (file) => {
  it('[OPS-31] sets only existing options', () => {
    const known = optionKeys.flatMap((key) =>
      isSecret(key) ? [environmentOf(key), `${environmentOf(key)}_FILE`] : [environmentOf(key)],
    )
    const named = [...read(file).matchAll(/\bWEFT_[A-Z_]+/g)].map(([name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  it('[OPS-31] requests only pages that exist', async () => {
    const pages = [...read(file).matchAll(/\/(?:healthz|readyz|metrics)\b/g)].map(([page]) => page)
    for (const page of new Set(pages)) expect((await fetch(server.url + page)).status).toBe(200)
  })
})

it('[OPS-31] the deployment files give the server more time to stop than `shutdownSeconds`', () => {
  const graces = {
    'weft.service': /^TimeoutStopSec=(\d+)$/m,
    'compose.yaml': /^ +stop_grace_period: (\d+)s$/m,
  }
  for (const [file, grace] of Object.entries(graces))
    expect(Number(grace.exec(read(file))?.[1])).toBeGreaterThan(options.shutdownSeconds.default)
})

it('[CF-30] the compose file of the cluster gives a node more time to stop than its drain takes, and sets the options that all nodes share', () => {
  const file = read('cluster/compose.yaml')
  const drain = /WEFT_SHUTDOWN_SECONDS: '(\d+)'/.exec(file)?.[1]
  expect(Number(/^ +stop_grace_period: (\d+)s$/m.exec(file)?.[1])).toBeGreaterThan(Number(drain))
  expect(file).toContain('WEFT_POSTGRES_URL')
})

it('[CF-30] uses only existing metrics in the alerts about a cluster', () => {
  for (const file of ['cluster/alerts.yml', 'cluster/README.md']) {
    const names = namedIn(read(file))
    expect(names.length).toBeGreaterThan(2)
    expect(names.filter((name) => !types.has(name))).toEqual([])
  }
})

it('[CF-30] the load balancer of the example checks /readyz, because a stopping server is not ready', () => {
  expect(read('cluster/Caddyfile')).toMatch(/^\t+health_uri \/readyz$/m)
  const asked = /reverse_proxy (weft.*) \{/.exec(read('cluster/Caddyfile'))?.[1]?.split(' ') ?? []
  expect(asked.length).toBe(3)
  for (const place of asked) {
    const [name, port] = place.split(':')
    expect(read('cluster/compose.yaml')).toContain(`WEFT_NODE_NAME: ${name}\n`)
    expect(port).toBe(String(options.port.default))
  }
})
