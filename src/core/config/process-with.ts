import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { attempt } from '../base/errors.ts'

/** A process that runs on this machine. */
export interface FoundProcess {
  readonly id: number
  /**
   * Program and its first argument, such as `node dist/main.js`. Further arguments are left out, because they
   * may contain secrets.
   */
  readonly name: string
}

/** Code of a listening socket in /proc/net/tcp. */
const listening = '0A'

/**
 * Returns the process that listens on a TCP port. Returns null if there is none, or if it cannot be
 * determined: on other operating systems than Linux, or if another user owns the process.
 */
export function processOnPort(port: number): FoundProcess | null {
  const inodes = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => listenersIn(path, port))
  return inodes.length === 0 ? null : processWith(inodes.map((inode) => `socket:[${inode}]`))
}

/**
 * Returns a process that has one of the files open. Returns null if there is none, or if it cannot be
 * determined.
 * @param files paths of the files, in the form of the link targets in /proc/<id>/fd
 */
export function processWith(files: readonly string[]): FoundProcess | null {
  for (const name of entriesOf('/proc')) {
    const id = Number(name)
    if (Number.isInteger(id) && id !== process.pid && hasOpen(id, files)) return { id, name: nameOf(id) }
  }
  return null
}

/** Returns a description of a process for messages, such as `process 12 (node dist/main.js)`. */
export const describeProcess = ({ id, name }: FoundProcess): string =>
  name === '' ? `process ${id}` : `process ${id} (${name})`

function listenersIn(path: string, port: number): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return textOf(path)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(end) && state === listening)
    .flatMap((fields) => fields[9] ?? [])
}

function hasOpen(id: number, files: readonly string[]): boolean {
  const folder = `/proc/${id}/fd`
  return entriesOf(folder).some((name) => files.includes(linkAt(`${folder}/${name}`)))
}

function nameOf(id: number): string {
  const [program = '', argument = ''] = textOf(`/proc/${id}/cmdline`).split('\0')
  const shown = argument.startsWith('-') ? '' : argument
  return [basename(program), shown]
    .filter((part) => part !== '')
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 100)
}

// A process may end while it is being read, and processes of other users cannot be read.
const entriesOf = (path: string): readonly string[] => attempt(() => readdirSync(path), [])
const linkAt = (path: string): string => attempt(() => readlinkSync(path), '')
const textOf = (path: string): string => attempt(() => readFileSync(path, 'utf8'), '')
