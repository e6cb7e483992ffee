import { constants } from 'node:fs'
import { access, open, rm, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { messageOf } from '../errors.ts'
import { filesBeside, openFilesMax } from '../quota/open-files.ts'
import { fileProblems, interruptedFilling, lookAtBus, lookAtDatabase } from './stopped.ts'

/** `help` says what to do; '' where nothing is to be done. */
export interface Finding {
  readonly name: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly help: string
}

type Judged = Omit<Finding, 'name'>

const ok = (found: string): Judged => ({ verdict: 'ok', found, help: '' })
const warn = (found: string, help: string): Judged => ({ verdict: 'warn', found, help })
const fail = (found: string, help: string): Judged => ({ verdict: 'fail', found, help })

const MB = 2 ** 20
const freeBytes = { fail: 100 * MB, warn: 1024 * MB }
const syncs = 20
/** Of a group commit, in ms: an acknowledged edit takes at least as long. */
const slowSyncMs = 20
/** To the database: an acknowledged edit takes two of them, and a sync. */
const slowTripMs = 10
/** Connections beside those of the option: one that looks after the database, and a few for backups and people. */
const connectionsBeside = 4
/** Of a message between servers; what is larger is read from the database. */
const busBytesMin = 256 * 1024
const skewMs = 2_000
/** Of the clock: nothing of this version was made before. */
const earliest = Date.UTC(2026, 0)

/** Looks at what it takes to serve with this configuration. Makes a file in the data directory, and removes it. */
export async function examine(config: Config): Promise<readonly Finding[]> {
  const checks: Checks = {
    'node version': nodeVersion,
    'data directory': () => dataDirectory(config.data),
    ...storeChecks(config),
    clock: () => clock(config.data),
    'open files': () => openFiles(config.maxConnections),
    port: () => port(config),
  }
  const found: Finding[] = []
  for (const [name, check] of Object.entries(checks)) found.push({ name, ...(await judge(check)) })
  return found
}

type Checks = Readonly<Record<string, () => Promise<Judged> | Judged>>

/** Of where the documents are. */
function storeChecks(config: Config): Checks {
  if (config.engine === 'postgres') {
    const { natsUrl } = config
    return {
      database: () => database(config),
      ...(natsUrl !== null && { bus: () => bus(natsUrl, config.natsCredentialsFile) }),
    }
  }
  return {
    'free disk space': () => freeSpace(config.data),
    'disk sync': () => syncSpeed(config),
    'stored files': () => storedFiles(config.data),
  }
}

async function database(config: Config): Promise<Judged> {
  const { postgresUrl, postgresConnectSeconds, postgresConnections } = config
  const { version, roundTripMs, connectionsMax, warnings } = await lookAtDatabase({
    url: postgresUrl ?? '',
    connectTimeoutMs: postgresConnectSeconds * 1000,
  })
  const found = `PostgreSQL ${version}, ${roundTripMs.toFixed(2)} ms away`
  const weak = [...warnings, ...tooFewConnections(connectionsMax, postgresConnections)]
  const all = (of: 'found' | 'help'): string => weak.map((each) => each[of]).join('; ')
  if (weak.length > 0) return warn(`${found}: ${all('found')}`, all('help'))
  return roundTripMs > slowTripMs ? warn(found, 'move the server nearer to the database') : ok(found)
}

/** To a server that has no more of them left the database is away. */
function tooFewConnections(connectionsMax: number, used: number): readonly { found: string; help: string }[] {
  const wanted = used + connectionsBeside
  if (connectionsMax >= wanted) return []
  return [
    {
      found: `it takes ${connectionsMax} connections, and a server with ${used} needs ${wanted}`,
      help:
        `set max_connections so that each server that shares the database has ${wanted}, ` +
        'or lower --postgres-connections',
    },
  ]
}

async function bus(urls: readonly string[], credentialsFile: string | null): Promise<Judged> {
  const { version, roundTripMs, bytesMax } = await lookAtBus(urls, credentialsFile)
  const found = `NATS ${version}, ${roundTripMs.toFixed(2)} ms away, messages up to ${bytesMax / 1024} KB`
  if (bytesMax < busBytesMin) return warn(found, `set max_payload to at least ${busBytesMin / 1024} KB`)
  return roundTripMs > slowTripMs ? warn(found, 'move the server nearer to NATS') : ok(found)
}

async function judge(check: () => Promise<Judged> | Judged): Promise<Judged> {
  try {
    return await check()
  } catch (error) {
    return fail(messageOf(error), 'put this right first')
  }
}

function nodeVersion(): Judged {
  const { version } = process
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 19) ? ok(version) : fail(version, 'use Node 20.19 or later')
}

/** The nearest directory that is there: the data directory, or where it will be made. */
async function existing(directory: string): Promise<string> {
  const found = await stat(directory).catch(() => null)
  return found !== null || directory === join(directory, '..') ? directory : existing(join(directory, '..'))
}

async function dataDirectory(directory: string): Promise<Judged> {
  const place = await existing(directory)
  const isWritable = await access(place, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) return fail(`${place} cannot be written`, 'make it writable for this user')
  if (place !== directory) return ok(`${directory} will be made at the first start`)
  const { mode } = await stat(directory)
  if ((mode & 0o077) === 0) return ok(`${directory} can be written, and read by its owner only`)
  return warn(`${directory} can be read by others`, `it holds secrets: chmod 700 ${directory}`)
}

async function freeSpace(directory: string): Promise<Judged> {
  const { bavail, bsize } = await statfs(await existing(directory))
  const free = bavail * bsize
  const found = `${Math.floor(free / MB)} MB`
  if (free < freeBytes.fail) return fail(found, 'make room: when the disk is full nothing is acknowledged')
  return free < freeBytes.warn ? warn(found, 'make room soon, and watch it') : ok(found)
}

async function syncSpeed({ data, durability }: Config): Promise<Judged> {
  if (durability === 'process') return warn('not used', 'what is acknowledged can be lost with the power')
  const path = join(await existing(data), `.doctor-${process.pid}`)
  const file = await open(path, 'w', 0o600)
  try {
    const times: number[] = []
    for (let count = 0; count < syncs; count++) {
      await file.write(Buffer.alloc(100))
      const start = performance.now()
      await file.datasync()
      times.push(performance.now() - start)
    }
    const median = times.sort((a, b) => a - b)[syncs / 2] as number
    const found = `${median.toFixed(2)} ms for 100 bytes (median of ${syncs})`
    return median > slowSyncMs
      ? warn(found, 'every edit takes as long: use a local or faster disk')
      : ok(found)
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

async function storedFiles(directory: string): Promise<Judged> {
  const interrupted = await interruptedFilling(directory)
  if (interrupted !== null) return fail(interrupted, 'the server does not start on it')
  const problems = await fileProblems(directory)
  if (problems.length === 0) return ok('LevelDB has no complaints')
  return warn(problems.join('; '), `stop the server and run: weft verify ${directory}`)
}

/** A disk of another machine has a clock of its own. */
async function clock(directory: string): Promise<Judged> {
  const now = Date.now()
  const found = new Date(now).toISOString()
  if (now < earliest) return fail(found, 'set the clock: tokens and versions depend on it')
  const path = join(await existing(directory), `.doctor-${process.pid}`)
  const file = await open(path, 'w', 0o600)
  const { mtimeMs } = await file.stat()
  await file.close()
  await rm(path, { force: true })
  const skew = Math.abs(mtimeMs - now)
  return skew > skewMs ? warn(`${found}, the disk says ${skew} ms else`, 'run a time service') : ok(found)
}

/** What the process may open now: Node has raised it as far as it may. */
function openFiles(connections: number): Judged {
  const files = openFilesMax()
  if (files === null) return ok('not known on this system')
  const wanted = connections + filesBeside
  const found = files === Number.POSITIVE_INFINITY ? 'unlimited' : String(files)
  if (files >= wanted) return ok(found)
  return warn(
    found,
    `${connections} connections need ${wanted}: ulimit -n ${wanted}, or a lower --max-connections`,
  )
}

async function port({ host, port: wanted }: Config): Promise<Judged> {
  const code = await new Promise<string | null>((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    server.listen({ port: wanted, host }, () => server.close(() => resolve(null)))
  })
  const place = `${host}:${wanted}`
  if (code === null) return ok(`${place} is free`)
  if (code === 'EADDRINUSE')
    return fail(`${place} is in use`, 'stop what listens there, or choose another --port')
  return fail(`${place} cannot be listened on (${code})`, 'choose another --host or --port')
}
