import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Marked, type Token, type Tokens } from 'marked'
import { builtFile } from '../../../src/core/base/package-file.ts'

const root = join(import.meta.dirname, '../../..')

/** A fenced code block of a page. */
export interface Sample {
  /** The nearest heading above the block. */
  readonly heading: string
  readonly language: string
  /** The words after the language: `not-run`, or the name of the file that the block contains. */
  readonly note: string
  readonly text: string
  /** The output that the page shows for this sample; null if it shows none. */
  readonly prints: { readonly language: string; readonly text: string } | null
}

/**
 * Returns all samples of a page in order. Samples in lists are included.
 * @param path path of the page relative to the root of the repository
 */
export function samplesOf(path: string): readonly Sample[] {
  const samples: Sample[] = []
  for (const { heading, block } of blocksOf(readFileSync(join(root, path), 'utf8'))) {
    const [language = '', note = ''] = (block.lang ?? '').split(' ')
    const { text } = block
    const before = samples.at(-1)
    if (note === 'printed' && before !== undefined)
      samples[samples.length - 1] = { ...before, prints: { language, text } }
    else samples.push({ heading, language, note, text, prints: null })
  }
  return samples
}

function blocksOf(markdown: string): readonly { readonly heading: string; readonly block: Tokens.Code }[] {
  const blocks: { heading: string; block: Tokens.Code }[] = []
  let heading = ''
  const marked = new Marked()
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (token.type === 'heading') heading = (token as Tokens.Heading).text
    if (token.type === 'code') blocks.push({ heading, block: token as Tokens.Code })
  })
  return blocks
}

/** Returns whether a sample must be run, or is a file that another sample needs. */
export const isRun = ({ language, note }: Sample): boolean =>
  ['sh', 'js'].includes(language) && note !== 'not-run'

/** Replacements by the placeholders that occur in samples. */
export type Replacements = Readonly<Record<string, string>>

/**
 * Runs the samples of a page in one shell in `folder`, one after the other, so that variables keep their
 * values. A JavaScript sample runs as a separate file. If it has a file name, it is only written.
 * @returns the output of each sample
 */
export async function runSamples(
  samples: readonly Sample[],
  folder: string,
  replacements: Replacements,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  prepare(folder)
  const replaced = (text: string): string =>
    Object.entries(replacements).reduce((all, [from, to]) => all.replaceAll(from, to), text)
  const steps = samples.map((sample, index) =>
    stepOf({ ...sample, text: replaced(sample.text) }, index, folder),
  )
  const script = ['set -euo pipefail', 'trap "kill \\$(jobs -p) 2>/dev/null || true" EXIT', ...steps].join(
    '\n',
  )
  const { code, out, err } = await shell(script, folder, environment)
  const printed = out.split(`${mark}\n`).slice(1)
  if (code !== 0) {
    const failed = samples[printed.length - 1]
    throw new Error(`ended with ${code} at:\n${failed?.text}\n${printed.at(-1)}\n${err}`)
  }
  return printed
}

const mark = '\u001e'

function prepare(folder: string): void {
  symlinkSync(fileURLToPath(builtFile('.')), join(folder, 'dist'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // Samples import the package by its name.
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', name, exports }))
  // Configures curl: the progress output is not part of a response, and each response ends with a line break.
  writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n"\n')
  copyFileSync(join(import.meta.dirname, 'sample-page.mjs'), join(folder, 'given.js'))
}

function stepOf({ language, note, text }: Sample, index: number, folder: string): string {
  const begin = `printf '%s\\n' '${mark}'`
  if (language === 'sh') return `${begin}\n${text}`
  if (note !== '') {
    mkdirSync(join(folder, dirname(note)), { recursive: true })
    writeFileSync(join(folder, note), text)
    return begin
  }
  const name = `sample-${index}.js`
  writeFileSync(join(folder, name), `${text}\n${ending}`)
  return `${begin}\nnode --import ./given.js ${name}`
}

const ending = "\nawait ended(typeof provider === 'undefined' ? null : provider)\n"

function shell(
  script: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, CURL_HOME: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The timeout is long, because some chapters start many processes, and some samples wait for an event.
    timeout: 110_000,
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

/** Parses the lines of an output that are JSON. */
export function jsonLinesOf(out: string): readonly unknown[] {
  return out
    .split('\n')
    .filter((line) => /^[{[]/.test(line))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })
}

/** Returns whether two values have the same members with the same types. Their values may be different. */
export function isAlike(shown: unknown, real: unknown): boolean {
  if (Array.isArray(shown))
    return (
      Array.isArray(real) &&
      real.length >= shown.length &&
      shown.every((each, index) => isAlike(each, real[index]))
    )
  if (typeof shown !== 'object' || shown === null)
    return shown === null ? real === null : typeof real === typeof shown
  if (typeof real !== 'object' || real === null || Array.isArray(real)) return false
  const names = Object.keys(shown).sort()
  return (
    isDeepStrictEqual(names, Object.keys(real).sort()) &&
    names.every((name) =>
      isAlike((shown as Record<string, unknown>)[name], (real as Record<string, unknown>)[name]),
    )
  )
}

/** Returns whether a text matches the shown text. In the shown text, `…` stands for any text. */
export function isText(shown: string, real: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${pattern.join('[\\s\\S]*?')}$`).test(real.trim())
}
