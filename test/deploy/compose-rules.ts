import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import { builtFile } from '../../src/core/base/package-file.ts'
import { options } from '../../src/core/config/config.ts'
import { readConfig } from '../../src/core/config/read-config.ts'
import { missing } from '../support/needs.ts'
import { inheritedEnvironment } from '../support/servers/environment.ts'
import { freePort } from '../support/servers/process.ts'
import { metric, startTestServer, type TestServer } from '../support/servers/server.ts'
import { HeldClock } from '../support/time/clock.ts'

const folder = join(import.meta.dirname, '../../examples/deploy')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

interface Service {
  readonly image?: string
  readonly build?: string
  readonly restart?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: string | readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: unknown
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const composeOf = (name: string): Compose => parse(read(name), { merge: true }) as Compose
const composition = composeOf('compose.yaml')
const service = (name: string): Service => composition.services[name] as Service
/** Parts of `source:target:mode`. */
const mountsOf = ({ volumes = [] }: Service): readonly (readonly string[])[] =>
  volumes.map((each) => each.split(':'))

describe.each(['compose.yaml', 'cluster/compose.yaml'])('%s', (file) => {
  const { services, secrets = {}, volumes } = composeOf(file)

  it('[IMG-20] names only files, volumes, secrets and services that exist, and uses all of them', () => {
    const all = Object.values(services)
    const sources = all.flatMap((each) => mountsOf(each).map(([source = '']) => source))
    const files = sources.filter((source) => source.startsWith('.'))
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((path) => !existsSync(join(folder, dirname(file), path)))).toEqual([])
    const named = sources.filter((source) => !/^[./]/.test(source))
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(volumes).toSorted())
    const used = all.flatMap((each) => each.secrets ?? [])
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(secrets).toSorted())
    for (const each of all)
      for (const [name, { condition }] of Object.entries(each.depends_on ?? {})) {
        expect(Object.keys(services)).toContain(name)
        // The image of Weft has a health check.
        const hasCheck = services[name]?.healthcheck !== undefined || services[name]?.image === 'weft'
        expect(condition === 'service_started' || hasCheck).toBe(true)
      }
    // Compose looks for an image without `build` in a registry.
    expect(all.filter(({ image, build }) => image === 'weft' && build === undefined)).toEqual([])
    expect(
      all.filter(({ image, build, restart }) => (image ?? build) === undefined || restart === undefined),
    ).toEqual([])
  })

  it('[IMG-20] publishes each port once, and only those of the proxy to other machines', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    )
    const ports = published.map(([, port]) => port)
    expect(new Set(ports).size).toBe(ports.length)
    const open = published.filter(([, port]) => !port?.startsWith('127.0.0.1:')).map(([name]) => name)
    expect([...new Set(open)]).toEqual(file === 'compose.yaml' ? ['caddy'] : [])
  })

  it('[IMG-20] containers of Weft have a read-only root and no capabilities', () => {
    const ours = Object.values(services).filter(({ image }) => image === 'weft')
    expect(ours.length).toBeGreaterThan(0)
    for (const each of ours) expect(each).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })
})

it('[IMG-21] secrets reach the services only as files, and only from a folder that git ignores', () => {
  const sources = ['compose.yaml', 'cluster/compose.yaml'].flatMap((name) =>
    Object.values(composeOf(name).secrets ?? {}).map(({ file }) => join(dirname(name), file)),
  )
  expect(sources.every((file) => /^(cluster\/)?secrets\//.test(file))).toBe(true)
  const ignored = spawnSync('git', ['check-ignore', '--no-index', ...sources], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(ignored.stdout.trim().split('\n')).toEqual(sources)
  for (const { environment = {} } of Object.values(composition.services))
    for (const [name, value] of Object.entries(environment))
      if (/PASSWORD|TOKEN|SECRET|KEY/.test(name)) expect(value).toMatch(/^\/run\/secrets\//)
  // The commands of the README and of the compose file of the cluster create all of them.
  for (const source of sources)
    expect(read(source.startsWith('cluster/') ? 'cluster/compose.yaml' : 'README.md')).toContain(
      `> ${source.replace('cluster/', '')}`,
    )
})

it('[IMG-22] Grafana finds the dashboard, and reads the Prometheus of the composition', () => {
  const mounts = mountsOf(service('grafana'))
  const targetOf = (source: string): string | undefined => mounts.find(([from]) => from === source)?.[1]
  const { providers } = parse(read('compose/grafana-dashboards.yaml')) as {
    providers: readonly { options: { path: string } }[]
  }
  expect(dirname(targetOf('./monitoring/dashboard.json') as string)).toBe(providers[0]?.options.path)
  expect(targetOf('./compose/grafana-dashboards.yaml')).toMatch(/^\/etc\/grafana\/provisioning\/dashboards\//)
  expect(targetOf('./compose/grafana-datasources.yaml')).toMatch(
    /^\/etc\/grafana\/provisioning\/datasources\//,
  )
  const { datasources } = parse(read('compose/grafana-datasources.yaml')) as {
    datasources: readonly { type: string; url: string; isDefault: boolean }[]
  }
  // The dashboard lets its reader choose a data source of the type `prometheus`, and begins with the default one.
  expect(datasources).toEqual([expect.objectContaining({ type: 'prometheus', isDefault: true })])
  expect(Object.keys(composition.services)).toContain(new URL(datasources[0]?.url as string).hostname)
})

let directory: string
let server: TestServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weft-compose-'))
  server = await startTestServer({ engine: 'level', adminToken: 'an-admin-token-of-this-test' })
})
afterAll(async () => {
  await server?.stop()
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
})

it.skipIf(missing('promtool'))('[IMG-22] promtool accepts the configuration of Prometheus', () => {
  const place = join(directory, 'prometheus')
  mkdirSync(place)
  writeFileSync(join(place, 'token'), 'x')
  for (const [source = '', target = ''] of mountsOf(service('prometheus')).filter(([from]) =>
    from?.startsWith('.'),
  )) {
    expect(dirname(target)).toBe('/etc/prometheus')
    cpSync(join(folder, source), target.replace('/etc/prometheus', place))
  }
  const config = join(place, 'prometheus.yml')
  const text = readFileSync(config, 'utf8')
  expect(text).toContain(`weft:${options.port.default}`)
  writeFileSync(config, text.replace('/run/secrets/metrics-token', join(place, 'token')))
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', config], { encoding: 'utf8' })
  expect([status, stdout + stderr]).toEqual([0, expect.not.stringMatching(/FAILED|WARN/i)])
})

/** Requests a page over TLS, whose certificate Caddy has signed itself. */
const statusOf = (port: number, path: string): Promise<number | null> =>
  new Promise((resolve) => {
    request({ host: 'localhost', port, path, rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? null)
    })
      .on('error', () => resolve(null))
      .end()
  })

it.skipIf(missing('caddy'))(
  '[IMG-23] Caddy serves the pages of clients over TLS, without metrics and backups',
  async () => {
    const port = await freePort()
    const lines = read('compose/Caddyfile').split('\n')
    const ours = lines
      // Caddy 2.6 of Debian does not have this option.
      .filter((line) => !line.includes('stream_close_delay'))
      .join('\n')
      .replace('{$DOMAIN:localhost}', `localhost:${port}`)
      .replace('weft:8787', `127.0.0.1:${server.port}`)
    const file = join(directory, 'Caddyfile')
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${ours}`)
    const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory, HOME: directory },
    })
    endWithThis(caddy)
    let log = ''
    caddy.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    try {
      await expect.poll(() => statusOf(port, '/readyz'), { timeout: 30_000 }).toBe(200)
      expect(await statusOf(port, '/version?token=secret-of-this-test')).toBe(200)
      for (const path of ['/metrics', '/backup', '/status'])
        expect([path, await statusOf(port, path)]).toEqual([path, 404])
      await expect.poll(() => log).toContain('/version')
      expect(log).not.toContain('secret-of-this-test')
    } finally {
      caddy.kill('SIGTERM')
      await once(caddy, 'close')
    }
  },
)

describe.each(['compose.yaml', 'cluster/compose.yaml'])('the backups of %s', (file) => {
  /** Options of backups of the servers, with their paths in a folder of this machine. */
  const optionsIn = (place: string): Readonly<Record<string, string>> => {
    const servers = Object.values(composeOf(file).services).filter(({ image }) => image === 'weft')
    const found = servers.map(({ environment = {}, secrets = [], volumes: mounted = [] }) => {
      expect(secrets).toContain('backup-key')
      expect(mounted).toContain('backups:/backups')
      return Object.fromEntries(
        Object.entries(environment).filter(([name]) => name.startsWith('WEFT_BACKUP_')),
      )
    })
    // All nodes of a cluster have the same options.
    for (const each of found) expect(each).toEqual(found[0])
    return Object.fromEntries(
      Object.entries(found[0] ?? {}).map(([name, text]) => [
        name,
        text.replace('/run/secrets', place).replace('/backups', join(place, 'backups')),
      ]),
    )
  }

  it('[IMG-24] the server makes backups that can be restored, and deletes old ones only after a success', async () => {
    const place = mkdtempSync(join(directory, 'repository-'))
    const keyFile = join(place, 'backup-key')
    writeFileSync(keyFile, `${'ab'.repeat(32)}\n`)
    const { config } = readConfig({ flags: {}, environment: optionsIn(place), file: null })
    const { backupTo, backupKey, backupEvery, backupKeep } = config
    expect(backupTo).toBe(join(place, 'backups'))
    const settings = {
      engine: 'level',
      dataDir: join(place, 'data'),
      backupTo,
      backupKey,
      backupEvery,
      backupKeep,
    } as const
    const backups = (): readonly string[] => readdirSync(join(place, 'backups/backups')).toSorted()
    const ended = (each: TestServer, result: string): Promise<void> =>
      expect
        .poll(() => metric(each, `weft_backups_total{result="${result}"}`), { timeout: 60_000 })
        .toBe(1)
        .then(() => undefined)
    const clock = new HeldClock(Date.parse('2026-03-02T01:00:00Z'))
    const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
    const first = await startTestServer(settings, { clock })
    await first.post('/v2/crdt/add', { ...address, type: 'text', data: 'kept in a backup' })
    await ended(first, 'succeeded')
    await first.stop()
    const [old] = backups()
    // The next backup is of the same day, so the rule does not keep the first one. Without its key, it fails.
    clock.advance(22 * 3_600_000)
    const failing = await startTestServer(
      { ...settings, backupEvery: '1h', backupKey: 'cd'.repeat(32) },
      { clock },
    )
    await ended(failing, 'failed')
    await failing.stop()
    expect(backups()).toEqual([old])
    const next = await startTestServer({ ...settings, backupEvery: '1h' }, { clock })
    await ended(next, 'succeeded')
    await next.stop()
    expect([backups().length, backups().includes(old as string)]).toEqual([1, false])
    const restored = join(place, 'restored')
    const main = fileURLToPath(builtFile('main.js'))
    const args = [main, 'restore', join(place, 'backups'), restored, '--key-file', keyFile]
    expect(spawnSync(process.execPath, args, { env: inheritedEnvironment() }).status).toBe(0)
    const again = await startTestServer({ engine: 'level', dataDir: restored })
    const read = await again.post('/v2/crdt/get', { ...address, format: 'text' })
    await again.stop()
    expect(JSON.stringify(read.body)).toContain('kept in a backup')
  })

  it('[IMG-24] states that the backups are on the same machine, and has a line for a bucket that a server accepts', () => {
    expect(read(file)).toMatch(/lost together with (the|this)\s+(# )?machine/)
    const [, bucket = ''] = /^ +# WEFT_BACKUP_TO: (s3:.*)$/m.exec(read(file)) ?? []
    const place = mkdtempSync(join(directory, 'bucket-'))
    writeFileSync(join(place, 'backup-key'), 'ab'.repeat(32))
    const environment = { ...optionsIn(place), WEFT_BACKUP_TO: bucket }
    expect(readConfig({ flags: {}, environment, file: null }).config.backupTo).toBe('s3://bucket/prefix')
  })
})

describe.skipIf(missing('systemd-analyze'))('the units of systemd', () => {
  const units = ['weft.service', 'weft-backup.service', 'weft-backup.timer']

  it('[IMG-30] systemd finds no problem in the units', () => {
    // The programs of the units need not exist on this machine.
    const place = join(directory, 'units')
    mkdirSync(place)
    for (const unit of units)
      writeFileSync(join(place, unit), read(unit).replaceAll('/usr/bin/node ', `${process.execPath} `))
    const args = ['verify', '--man=no', ...units.map((unit) => join(place, unit))]
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect([status, stdout + stderr]).toEqual([0, ''])
  })

  it('[IMG-30] the services have few rights, as systemd rates them', () => {
    const services = units.filter((unit) => unit.endsWith('.service')).map((unit) => join(folder, unit))
    const args = ['security', '--offline=true', '--threshold=35', '--no-pager', ...services]
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect([status, stdout.match(/Overall exposure level/g)?.length]).toEqual([0, services.length])
  })
})

it('[IMG-30] the backup of systemd and the one of the chapter on deployment have the same command', () => {
  const command = /^ExecStart=.*$/m.exec(read('weft-backup.service'))?.[0]
  for (const [option, name] of [
    ['token', 'admin-token'],
    ['key', 'backup-key'],
  ] as const) {
    expect(command).toContain(`--${option}-file \${CREDENTIALS_DIRECTORY}/${name}`)
    expect(read('weft-backup.service')).toContain(`\nLoadCredential=${name}:/etc/weft/${name}\n`)
  }
  const chapter = readFileSync(join(folder, '../../src/docs/deployment.md'), 'utf8')
  expect(chapter).toContain(
    'cp examples/deploy/weft-backup.service examples/deploy/weft-backup.timer /etc/systemd/system/',
  )
})
