import { open, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { messageOf } from '../../errors.ts'
import { StorageError } from '../../storage/problem.ts'
import type { Source, StoredDocument } from '../source.ts'

const linesEnding = /\.(jsonl|ndjson)$/
/** Endings of files with one update, which are no part of the name. */
const updateEnding = /\.(bin|yjs|update)$/

/**
 * Updates (Yjs V1) in files: a folder of them, of which the path without `.bin`, `.yjs` or `.update` is the name; one such
 * file; or lines of JSON (`.jsonl`, `.ndjson`) with `name` and `update` (base64), those of a document one after the other.
 * @throws StorageError
 */
export async function openUpdates(path: string): Promise<Source> {
  const found = await stat(path).catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${messageOf(error)}`)
  })
  if (found.isDirectory()) return sourceOfFiles(path, await filesIn(path))
  if (!linesEnding.test(path)) return sourceOfFiles(join(path, '..'), [path])
  return {
    count: () => countLines(path),
    documents: () => documentsOfLines(path),
    close: () => Promise.resolve(),
  }
}

function sourceOfFiles(folder: string, files: readonly string[]): Source {
  return {
    count: () => Promise.resolve(files.length),
    documents: () => documentsOfFiles(folder, files),
    close: () => Promise.resolve(),
  }
}

/** Hidden ones are not looked at. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !basename(entry.name).startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function* documentsOfFiles(folder: string, files: readonly string[]): AsyncGenerator<StoredDocument> {
  for (const file of files) {
    const name = relative(folder, file).split(sep).join('/').replace(updateEnding, '')
    try {
      yield { name, updates: [await readFile(file)] }
    } catch (error) {
      yield { name, problem: `its file cannot be read: ${messageOf(error)}` }
    }
  }
}

/** At least as many as there are documents. */
async function countLines(path: string): Promise<number> {
  let lines = 0
  for await (const line of linesOf(path)) if (line !== '') lines += 1
  return lines
}

async function* documentsOfLines(path: string): AsyncGenerator<StoredDocument> {
  let current: Gathered | null = null
  let number = 0
  for await (const line of linesOf(path)) {
    number += 1
    if (line === '') continue
    const entry = entryOf(line)
    if (current !== null && current.name !== entry?.name) {
      yield current
      current = null
    }
    if (entry === null) yield { name: `line ${number}`, problem: noEntry }
    else if (current === null) current = { name: entry.name, updates: [entry.update] }
    else current.updates.push(entry.update)
  }
  if (current !== null) yield current
}

interface Gathered {
  readonly name: string
  readonly updates: Uint8Array[]
}

const noEntry = 'it is no JSON with a name and an update in base64'

function entryOf(line: string): { readonly name: string; readonly update: Uint8Array } | null {
  try {
    const { name, update } = JSON.parse(line) as Record<string, unknown>
    if (typeof name !== 'string' || typeof update !== 'string') return null
    return base64.test(update) ? { name, update: Buffer.from(update, 'base64') } : null
  } catch {
    return null
  }
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path)
  try {
    for await (const line of file.readLines()) yield line.trim()
  } finally {
    await file.close()
  }
}
