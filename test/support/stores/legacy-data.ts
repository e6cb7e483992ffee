import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Y from 'yjs'

/**
 * Writes data of other servers into a folder. `old/leveldb` is the data of the y-websocket server,
 * `old.sqlite` is the data of Hocuspocus, and `old-updates` contains files with updates.
 */
export function giveOldData(folder: string): void {
  mkdirSync(join(folder, 'old', 'leveldb'), { recursive: true })
  writeLeveldb(join(folder, 'old', 'leveldb'))
  const stored = join(import.meta.dirname, '../..', 'transfer', 'fixtures', 'hocuspocus-4.7.0.sqlite')
  copyFileSync(stored, join(folder, 'old.sqlite'))
  mkdirSync(join(folder, 'old-updates', 'acme', 'minutes'), { recursive: true })
  writeFileSync(join(folder, 'old-updates', 'acme', 'minutes', 'main.bin'), updateOf('Minutes.'))
}

function writeLeveldb(directory: string): void {
  const updates = [
    ['acme/handbook/main', updateOf('Handbook.')],
    ['notes', updateOf('Notes.')],
  ] as const
  const lines = updates.map(([name, update]) => [name, Buffer.from(update).toString('base64')])
  execFileSync(process.execPath, [
    join(import.meta.dirname, 'legacy-leveldb.mjs'),
    directory,
    JSON.stringify(lines),
  ])
}

function updateOf(text: string): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('old').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}
