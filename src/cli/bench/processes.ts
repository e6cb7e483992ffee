import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treeOf } from './cpu.ts'
import { atEnd } from './ending.ts'

/** Creates a temporary directory. It is removed when this process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
  atEnd(() => removeDirectory(directory))
  return directory
}

/** Removes a directory and its content. Retries, because a server that was just killed may still be writing. */
export const removeDirectory = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

export async function ready(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 2_000; attempt++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const response = await fetch(`${url}/readyz`).catch(() => null)
    if (response?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('the server did not become ready')
}

/** Kills a process. On Linux, also kills its descendants, which it can no longer end itself. */
export function killTree(pid: number): void {
  for (const each of process.platform === 'linux' ? treeOf(pid) : [pid])
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
}

/** Returns whether something accepts connections at a port. */
export const isListening = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = connect({ host: host.replace(/^\[|\]$/g, ''), port })
    const answer = (is: boolean) => () => {
      connection.destroy()
      resolve(is)
    }
    connection.once('connect', answer(true)).once('error', answer(false))
  })

/** Time in ms in which a server must stop. Afterwards it is killed. */
const stopMs = 30_000

export interface StartedCommand {
  readonly pid: number
  isAlive(): boolean
  /** Sends a signal to the process and its descendants, and waits until all of them have ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

/**
 * Starts a command in a process group of its own, so that a signal also reaches the processes that it starts.
 * @param command line for a shell, or a program with its arguments
 */
export function startCommand(
  command: string | readonly string[],
  folder = process.cwd(),
  environment: Readonly<Record<string, string>> = {},
): StartedCommand {
  const [program = '', ...args] = typeof command === 'string' ? [`exec ${command}`] : command
  const child = spawn(program, args, {
    shell: typeof command === 'string',
    detached: true,
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // The event reports a program that does not exist. `isAlive` is then false.
  child.once('error', () => undefined)
  const pid = child.pid ?? 0
  const signalAll = (signal: NodeJS.Signals | 0): boolean => {
    if (pid === 0) return false
    try {
      // Windows has no process groups.
      return process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      return false
    }
  }
  const forget = atEnd(() => void signalAll('SIGKILL'))
  return {
    pid,
    isAlive: () => child.exitCode === null && child.signalCode === null && signalAll(0),
    async end(signal) {
      signalAll(signal)
      const deadline = performance.now() + stopMs
      // A process whose parent does not wait for it stays in the group. Therefore the loop ends after the kill.
      for (let killed = false; signalAll(0) && !(killed && performance.now() > deadline + stopMs / 10); ) {
        if (performance.now() > deadline) killed = signalAll('SIGKILL')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      forget()
    },
  }
}
