import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from './process.ts'

/** A server of another vendor that runs in a separate process. It has a directory for its data. */
export interface OldServerProcess {
  readonly port: number
  readonly url: string
  end(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

const peers = join(import.meta.dirname, '../../..', 'bench', 'peers')
/** Path of the Node that runs Hocuspocus, because its SQLite needs a certain version of Node. */
export const peersNode = join(peers, 'node_modules', 'node', 'bin', 'node')

/** Starts Hocuspocus 4.7 with SQLite. */
export async function startHocuspocus(directory: string, atPort?: number): Promise<OldServerProcess> {
  const port = atPort ?? (await freePort())
  const args = [join(peers, 'hocuspocus.mjs'), String(port), directory]
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1' }
  const child = spawn(peersNode, args, { env, cwd: peers, stdio: ['ignore', 'ignore', 'inherit'] })
  await listens(port, child)
  const end = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return { port, url: `ws://127.0.0.1:${port}`, end }
}

async function listens(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (child.exitCode !== null) throw new Error(`the old server ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'open'),
      once(socket, 'error').then(() => 'refused'),
    ]).catch(() => 'refused')
    socket.destroy()
    if (outcome === 'open') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the old server does not listen')
}
