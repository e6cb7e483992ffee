import { Command } from 'commander'
import { publicUrlOf } from '../config/public-url.ts'
import { ConfigError } from '../config/read.ts'
import type { DocumentPath } from '../model/address.ts'
import type { Catalogue, ShownVersion } from '../transfer/catalogue.ts'
import { restoreServing } from '../transfer/catalogue-rest.ts'
import { parsePath, type ShownDocument } from '../transfer/document.ts'
import { addressHelp } from './doc-content.ts'
import {
  type PlaceFlags,
  type ReadingFlags,
  serverOf,
  withCatalogue,
  withPlace,
  withReading,
} from './doc-place.ts'
import { lineDiff } from './line-diff.ts'
import { configOf, plain, print, printEach, printSlowly } from './options.ts'

interface Flags extends PlaceFlags, ReadingFlags {
  readonly diff?: string
  readonly json?: true
}

/** `weft doc history`. */
export function docHistoryCommand(): Command {
  return withPlace(withReading(new Command('history'), 'json'))
    .description('List the versions of a document, the newest first, or show what has changed since one.')
    .argument('<address>', addressHelp)
    .option('--diff <version>', 'Show the lines of its content that differ from now.')
    .option('--json', 'Print a line of JSON for each.')
    .action(async (address: string, flags: Flags) => {
      const path = parsePath(address)
      await withCatalogue(flags, async (catalogue) => {
        if (flags.diff !== undefined) return showDiff(catalogue, path, flags.diff, flags)
        await requireThere(catalogue, path)
        const line = flags.json ? null : lineOf
        await printEach(catalogue.versions(path), { line, none: 'there are no versions yet' })
      })
    })
}

/** `weft doc restore`. */
export function docRestoreCommand(): Command {
  return withPlace(new Command('restore'))
    .description('Give a document the content of a version; what there was becomes a version first.')
    .argument('<address>', addressHelp)
    .argument('<version>', 'Id of the version, see `doc history`.')
    .option('--json', 'Print for machines.')
    .action(async (address: string, version: string, flags: Flags) => {
      const path = parsePath(address)
      const server = await serverOf(flags)
      if (server === null)
        throw new ConfigError('the server is needed to restore a version', {
          hint: `start it, and name it: --url ${publicUrlOf(configOf({ data: flags.data }).config)}`,
        })
      const before = await restoreServing(server, path, version)
      if (flags.json)
        return print(JSON.stringify({ ok: true, changed: before !== null, previousVersionId: before }))
      print(before === null ? 'it is like this already' : `restored; what there was is version ${before}`)
    })
}

/** A document that is not there has no versions, either, and that is no answer. */
async function requireThere(catalogue: Catalogue, path: DocumentPath): Promise<void> {
  await catalogue.content(path, null, { format: 'update' })
}

function lineOf({ versionId, kind, label, createdAt, createdBy, sizeBytes, authors }: ShownVersion): string {
  const names = authors.map(({ userId, name }) => name ?? userId).join(', ')
  const parts = [
    `${createdAt.slice(0, 19)}  ${versionId}  ${kind.padEnd(9)}`,
    `${sizeBytes} bytes`,
    label === '' ? '' : JSON.stringify(label),
    createdBy === '' ? '' : `by ${createdBy}`,
    names === '' ? '' : `edited by ${names}`,
  ]
  return plain(parts.filter((part) => part !== '').join('  '))
}

async function showDiff(
  catalogue: Catalogue,
  path: DocumentPath,
  versionId: string,
  { format, contentKey, json }: Flags,
): Promise<void> {
  if (format === 'update')
    throw new ConfigError('bytes have no lines', { hint: 'choose --format json, text or xml' })
  const reading = { format, contentKey }
  const then = await catalogue.content(path, versionId, reading)
  const now = await catalogue.content(path, null, reading)
  const lines = lineDiff(linesOf(then), linesOf(now))
  if (json) return print(JSON.stringify({ versionId, same: lines.length === 0, lines }))
  if (lines.length === 0) return print('nothing differs')
  for (const line of lines) await printSlowly(coloured(line))
}

function linesOf({ data }: ShownDocument): readonly string[] {
  const text = typeof data === 'string' ? data : JSON.stringify(data, null, 2)
  return text === '' ? [] : text.split('\n')
}

const colours: Readonly<Record<string, number>> = { '+': 32, '-': 31, '@': 36 }

function coloured(line: string): string {
  const shown = plain(line)
  const colour = colours[line[0] ?? '']
  return process.stdout.isTTY && colour !== undefined ? `\u001b[${colour}m${shown}\u001b[0m` : shown
}
