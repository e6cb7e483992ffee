import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { readJson } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'

/**
 * Environment variables that switch off limits. All clients of the load test have the same address, API key
 * and workspace, so the default limits would apply to all of them together.
 */
const unlimited = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  WEFT_RECEIVE_BYTES_PER_WORKSPACE: '0',
  WEFT_LOG_LEVEL: 'error',
} as const

/** JSON that `weft serve --json` prints at the first start. */
interface Notice {
  readonly port: number
  readonly apiKey: string
  readonly authToken: string
}

const noticeSchema = s.object({ port: s.number, apiKey: s.string, authToken: s.string })

interface SpawnedServer extends Notice {
  readonly pid: number
  /** Ends the server and removes its data. */
  readonly end: () => Promise<void>
}

/** Maximum time in ms for the start. Also the time after SIGTERM after which the process is killed. */
const patienceMs = 30_000

/**
 * Starts a server in a separate process, in the same way as `weft serve`. The server has a free port on the
 * loopback address and a temporary data directory.
 * @throws StorageError
 */
export async function spawnServer(): Promise<SpawnedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? '', ...serveArgs(directory)],
    {
      cwd: directory,
      env: { ...withoutOurs(process.env), ...unlimited },
      stdio: ['ignore', 'pipe', 'inherit'],
      // The server is detached, so that Ctrl-C in the terminal reaches only this process. This process then
      // ends the server.
      detached: process.platform !== 'win32',
    },
  )
  // If this process exits without a call of `end`, kills the server and removes its data.
  const killed = (): void => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', killed)
  const end = async (): Promise<void> => {
    await stop(child)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    process.off('exit', killed)
  }
  try {
    return { ...(await noticeOf(child)), pid: child.pid as number, end }
  } catch (error) {
    await end()
    throw error
  }
}

const serveArgs = (data: string): readonly string[] => {
  const place = ['--host', '127.0.0.1', '--port', '0']
  return ['serve', '--json', ...place, '--engine', 'level', '--data-dir', join(data, 'data')]
}

/**
 * Returns the environment without the variables of Weft. Such variables would change the configuration of the
 * started server.
 */
const withoutOurs = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('WEFT_') && name !== 'PORT'),
  )

async function noticeOf(child: ChildProcess): Promise<Notice> {
  const late = AbortSignal.timeout(patienceMs)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  while (!printed.includes('\n')) {
    const next =
      child.stdout === null ? Promise.reject(new Error()) : once(child.stdout, 'data', { signal: late })
    const ended = once(child, 'exit', { signal: late }).then(() => 'ended' as const)
    if ((await Promise.race([next, ended]).catch(() => 'ended' as const)) === 'ended')
      throw new StorageError('the server for the benchmark does not start', {
        hint: 'run weft doctor to find the cause',
      })
  }
  try {
    return readJson(noticeSchema, printed.slice(0, printed.indexOf('\n')))
  } catch (cause) {
    throw new StorageError('the server to be measured prints no address and credentials', { cause })
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  child.kill('SIGTERM')
  await once(child, 'exit')
  clearTimeout(late)
}
