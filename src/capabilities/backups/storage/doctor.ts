import { constants } from 'node:fs'
import { access, open, rm, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isJsonObject } from '../../../core/base/json.ts'
import type { Config } from '../../../core/config/config.ts'
import {
  describeProcess,
  type FoundProcess,
  processOnPort,
  processWith,
} from '../../../core/config/process-with.ts'
import { localUrlAt } from '../../../core/config/public-url.ts'
import { adminTokenOf, readCredentials } from '../../../core/directory/tenants/credentials-file.ts'
import { filesBeside, openFilesMax } from '../../../core/quota/open-files.ts'
import {
  existingDirectory,
  type Finding,
  fail,
  type Judged,
  judge,
  MB,
  nodeVersion,
  ok,
  warning,
} from './finding.ts'
import { checkStoredCredentials, fileDamage, loadDatabaseProbe, loadMaintenance } from './offline-store.ts'

const freeBytes = { fail: 100 * MB, warn: 1024 * MB }
const syncs = 20
/**
 * Duration of a disk sync in ms; the doctor warns if a sync takes longer. An acknowledged edit takes at least
 * one sync.
 */
const slowSyncMs = 20
/**
 * Duration of a round trip to the database in ms; the doctor warns if a round trip takes longer.
 * An acknowledged edit takes two round trips to the database and a sync.
 */
const slowTripMs = 10
/**
 * Number of database connections that a server needs in addition to the configured number
 * (`--postgres-connections`): one for maintenance, one for messages between nodes, and some for backups and
 * administrators.
 */
const connectionsBeside = 5
const skewMs = 2_000
/** Timeout in ms of requests to a running server. */
const answerMs = 1_000
/** Earliest plausible time of the clock. This version of Weft did not exist before that time. */
const earliest = Date.UTC(2026, 0)

/**
 * Checks whether a server can run with this configuration. To check the data directory, creates a file in it
 * and removes the file again. Skips a check if an earlier check on which it depends has failed.
 */
export async function examine(config: Config): Promise<readonly Finding[]> {
  const running = await findRunning(config)
  const checks: Checks = {
    'node version': nodeVersion,
    'data directory': () => dataDirectory(config.dataDir),
    ...storeChecks(config, running),
    clock: () => clock(config.dataDir),
    'open files': () => openFiles(config.maxConnections),
    port: () => port(config, running),
  }
  const found: Finding[] = []
  for (const [name, check] of Object.entries(checks)) {
    const causes = causesOf[name] ?? []
    if (found.some((each) => each.verdict === 'fail' && causes.includes(each.name))) continue
    found.push({ name, ...(await judge(check)) })
  }
  return found
}

/**
 * The earlier checks on which each check depends, because they use the same directory. If one of them has
 * failed, its failure would also make this check fail.
 */
const causesOf: Readonly<Record<string, readonly string[]>> = {
  'disk sync': ['data directory', 'free disk space'],
  'stored files': ['data directory'],
  credentials: ['data directory', 'stored files'],
  clock: ['data directory', 'free disk space'],
}

/**
 * The processes that use the port and the store. A member is null if there is no such process, or if it is
 * unknown.
 */
interface Running {
  readonly onPort: FoundProcess | null
  readonly onStore: FoundProcess | null
}

async function findRunning({ port: wanted, dataDir, engine }: Config): Promise<Running> {
  const { lockPath, storePath } = await loadMaintenance()
  return {
    onPort: wanted === 0 ? null : processOnPort(wanted),
    // A server that uses the store has this file open.
    onStore: engine === 'level' ? processWith([lockPath(storePath(dataDir))]) : null,
  }
}

/**
 * Returns whether the same process uses the port and the store. If so, that process is a server with this
 * configuration.
 */
const isOneProcess = ({ onPort, onStore }: Running): boolean => onPort !== null && onPort.id === onStore?.id

type Checks = Readonly<Record<string, () => Promise<Judged> | Judged>>

/** Returns the checks of the place that stores the documents: the data directory, or the database. */
function storeChecks(config: Config, running: Running): Checks {
  if (config.engine === 'postgres') return { database: () => database(config) }
  return {
    'free disk space': () => freeSpace(config.dataDir),
    'disk sync': () => syncSpeed(config),
    'stored files': () => storedFiles(config.dataDir, running),
    credentials: () => credentials(config, running),
  }
}

async function database(config: Config): Promise<Judged> {
  const { postgresUrl, postgresConnections } = config
  const { version, roundTripMs, connectionsMax, warnings } = await (await loadDatabaseProbe()).probeDatabase(
    postgresUrl ?? '',
  )
  const found = `PostgreSQL ${version}, ${roundTripMs.toFixed(2)} ms away`
  const weak = [...warnings, ...tooFewConnections(connectionsMax, postgresConnections)]
  const all = (of: 'found' | 'help'): string => weak.map((each) => each[of]).join('; ')
  if (weak.length > 0) return warning(`${found}: ${all('found')}`, all('help'))
  return roundTripMs > slowTripMs ? warning(found, 'move the server nearer to the database') : ok(found)
}

/**
 * Returns a warning if the database allows fewer connections than a server needs; otherwise returns an empty
 * array.
 */
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

async function dataDirectory(directory: string): Promise<Judged> {
  const place = await existingDirectory(directory)
  if (!(await stat(place)).isDirectory())
    return fail(`${place} is not a directory`, 'name another directory: --data-dir')
  const isWritable = await access(place, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) return fail(`${place} cannot be written`, 'make it writable for this user')
  if (place !== directory) return ok(`${directory} will be made at the first start`)
  const { mode } = await stat(directory)
  if ((mode & 0o077) === 0) return ok(`${directory} can be written, and read by its owner only`)
  return warning(`${directory} can be read by others`, `it holds secrets: chmod 700 ${directory}`)
}

async function freeSpace(directory: string): Promise<Judged> {
  const { bavail, bsize } = await statfs(await existingDirectory(directory))
  const free = bavail * bsize
  const found = `${Math.floor(free / MB)} MB`
  if (free < freeBytes.fail)
    return fail(found, 'free some disk space: with a full disk the server acknowledges nothing')
  return free < freeBytes.warn ? warning(found, 'free some disk space soon, and monitor it') : ok(found)
}

async function syncSpeed({ dataDir, durability }: Config): Promise<Judged> {
  if (durability === 'process') return warning('not used', 'a loss of power can lose acknowledged changes')
  const path = join(await existingDirectory(dataDir), `.doctor-${process.pid}`)
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
      ? warning(found, 'every edit takes this time; use a local or faster disk')
      : ok(found)
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

async function storedFiles(directory: string, running: Running): Promise<Judged> {
  const { onStore } = running
  if (onStore !== null && isOneProcess(running))
    return ok(`the running server has them open: ${describeProcess(onStore)}`)
  if (onStore !== null)
    return fail(`the ${describeProcess(onStore)} has them open`, 'stop it before a server starts here')
  const { startProblem } = await loadMaintenance()
  const problem = await startProblem(directory)
  if (problem !== null) return fail(problem, 'the server does not start on it')
  const problems = await fileDamage(directory)
  if (problems.length === 0) return ok('LevelDB reports no errors')
  return warning(problems.join('; '), `stop the server and run: weft verify ${directory}`)
}

async function credentials(config: Config, { onStore }: Running): Promise<Judged> {
  if (onStore !== null) return credentialsOfRunning(config)
  if (config.engine === 'level') await checkStoredCredentials(config.dataDir, config)
  return ok('no conflict with the store')
}

/** Requests a path of the server at the configured address. Returns null if it does not respond. */
const askRunning = ({ host, port }: Config, path: string, init: RequestInit = {}): Promise<Response | null> =>
  fetch(localUrlAt(host, port) + path, { ...init, signal: AbortSignal.timeout(answerMs) }).catch(() => null)

/** Asks the running server whether the admin token is correct, if one is known. */
async function adminTokenOfRunning(config: Config): Promise<Judged> {
  const token = await adminTokenOf(config)
  if (token === undefined) return ok('the running server accepts them')
  const response = await askRunning(config, '/status', { headers: { 'x-service-admin-token': token } })
  return response?.status === 401
    ? fail(
        'the running server does not accept the admin token',
        'correct WEFT_ADMIN_TOKEN, or restart the server',
      )
    : ok('the running server accepts them')
}

/**
 * Asks the running server whether the configured credentials are correct, because only that server can read
 * the store while it runs.
 */
async function credentialsOfRunning(config: Config): Promise<Judged> {
  const kept = await readCredentials(config.dataDir)
  const apiKey = config.apiKey ?? kept?.apiKey
  const authToken = config.authToken ?? (apiKey === kept?.apiKey ? kept?.authToken : undefined)
  if (apiKey === undefined || authToken === undefined)
    return warning(
      'not checked: a running server has the store open, and no auth token is known',
      'set WEFT_AUTH_TOKEN',
    )
  const response = await askRunning(config, '/v2/organizations/get', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    body: '{"data":{"pageSize":1}}',
  })
  if (response?.ok === true) return adminTokenOfRunning(config)
  if (response?.status === 401)
    return fail(
      `the running server does not accept the API key ${JSON.stringify(apiKey)} with its auth token`,
      'correct WEFT_API_KEY and WEFT_AUTH_TOKEN: with the present values, the server will not start again',
    )
  return warning('not checked: the running server gave no usable answer', 'see its log')
}

/**
 * Compares the clock of this machine with the clock of the disk. For a network disk, this is the clock of the
 * file server.
 */
async function clock(directory: string): Promise<Judged> {
  const now = Date.now()
  const found = new Date(now).toISOString()
  if (now < earliest) return fail(found, 'set the clock: tokens and versions depend on it')
  const path = join(await existingDirectory(directory), `.doctor-${process.pid}`)
  const file = await open(path, 'w', 0o600)
  const { mtimeMs } = await file.stat()
  await file.close()
  await rm(path, { force: true })
  const skew = Math.abs(mtimeMs - now)
  return skew > skewMs
    ? warning(`${found}, ${skew} ms off the clock of the disk`, 'run a time service')
    : ok(found)
}

/** Checks the limit of open files. At its start, Node has raised the limit to the allowed maximum. */
function openFiles(connections: number): Judged {
  const files = openFilesMax()
  if (files === null) return ok('not known on this system')
  const wanted = connections + filesBeside
  const found = files === Number.POSITIVE_INFINITY ? 'unlimited' : String(files)
  if (files >= wanted) return ok(found)
  return warning(
    found,
    `${connections} connections need ${wanted}: ulimit -n ${wanted}, or a lower --max-connections`,
  )
}

async function port(config: Config, running: Running): Promise<Judged> {
  const { host, port: wanted } = config
  const code = await new Promise<string | null>((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    server.listen({ port: wanted, host }, () => server.close(() => resolve(null)))
  })
  const place = `${host}:${wanted}`
  if (code === null) return ok(`${place} is free`)
  if (code !== 'EADDRINUSE')
    return fail(`${place} cannot be listened on (${code})`, 'choose another --host or --port')
  const { onPort } = running
  const listener = onPort === null ? 'another process' : `the ${describeProcess(onPort)}`
  if (onPort !== null && isOneProcess(running))
    return ok(`the running server listens on ${place}: ${describeProcess(onPort)}`)
  const isOther = config.engine === 'level' && onPort !== null
  if (!isOther && (await isWeft(config)))
    return warning(`${listener}, a Weft server, listens on ${place}`, 'stop it before another server starts')
  return fail(`${listener} listens on ${place}`, 'stop it, or choose another --port')
}

/** Returns whether a Weft server answers at the configured address. */
async function isWeft(config: Config): Promise<boolean> {
  const response = await askRunning(config, '/version')
  const version: unknown = await response?.json().catch(() => null)
  return isJsonObject(version) && version.name === 'weft'
}
