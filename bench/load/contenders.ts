import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Contender, contenderOf, type Running, type ServerSpec } from '../../src/cli/bench/contender.ts'
import { weftSpec } from '../../src/cli/bench/weft-spec.ts'
import { readPackageVersion } from '../../src/core/base/package-version.ts'
import { headers, nodeOptions } from '../support/server.ts'
import type { CalledServer } from './calling.ts'

/** A node of Weft, with its REST API. */
export interface RunningWeft extends Running {
  readonly pid: number
  readonly rest: CalledServer
}

const bench = join(import.meta.dirname, '..')
const peersNode = join(bench, 'peers', 'node_modules', 'node', 'bin', 'node')
const onLoopback = { url: 'ws://127.0.0.1:{port}', document: '{name}', folder: bench } as const

const relay = (name: string, script: string): ServerSpec => ({
  ...onLoopback,
  name,
  protocol: 'y-websocket',
  start: [process.execPath, '--import', 'tsx', join('support', script), '{port}', '{data}'],
  keeps: false,
})

/** Describes another server. Returns nothing if its library is not installed. */
function peer(script: string, library: string, from: Partial<ServerSpec> = {}): readonly ServerSpec[] {
  const manifest = join(bench, 'peers', 'node_modules', library, 'package.json')
  if (!existsSync(manifest)) return []
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  const start = [peersNode, join('peers', script), '{port}', '{data}']
  return [{ ...onLoopback, name: library, version, protocol: 'y-websocket', start, keeps: true, ...from }]
}

const builtWeft = (): ServerSpec =>
  weftSpec([process.execPath, ...nodeOptions, join(bench, '..', 'dist', 'main.js')], readPackageVersion())

/** Returns the contender for Weft. @param options options of Weft in addition to the default ones */
export const weft = (
  name = 'weft',
  options: Readonly<Record<string, string>> = {},
): Omit<Contender, 'start'> & { start(data: string): Promise<RunningWeft> } => {
  const spec = builtWeft()
  const contender = contenderOf({ ...spec, name, environment: { ...spec.environment, ...options } })
  return {
    ...contender,
    start: async (data) => {
      const running = await contender.start(data)
      const pid = running.pid as number
      const url = new URL(running.url('any').replace(/^ws/, 'http')).origin
      return { ...running, pid, rest: { url, headers, pid } }
    },
  }
}

/** Returns all servers; the others only if they are installed. They are compared with the first one. */
export const contenders = (): readonly ServerSpec[] => [
  relay('relay', 'relay.ts'),
  relay('batching relay', 'batching-relay.ts'),
  relay('syncing relay', 'syncing-relay.ts'),
  builtWeft(),
  ...peer('hocuspocus.mjs', '@hocuspocus/server', { name: 'Hocuspocus', protocol: 'hocuspocus' }),
  ...peer('y-websocket-server.mjs', '@y/websocket-server'),
  ...peer('y-partyserver.mjs', 'y-partyserver', { url: `${onLoopback.url}/parties/editor` }),
]
