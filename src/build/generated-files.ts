import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageFile } from '../core/base/package-file.ts'
import { operationListPath, operationListText } from './operation-list.ts'

/** Files that a program writes from the operations and the options. */
const printedPaths = [
  'src/client/api/codes.ts',
  'src/client/api/operations.ts',
  'src/client/api/operation-types.ts',
  'src/server/library/option-values.ts',
] as const

export type PrintedPath = (typeof printedPaths)[number]

/** Files that are not in git. */
export const generatedPaths = [operationListPath, ...printedPaths] as const

/** The state in which the generated files were current. */
interface Stamp {
  /** Paths of the sources from which the files are generated. */
  readonly inputs: readonly string[]
  /** Hash of these sources and of the generated files. */
  readonly hash: string
}

const root = fileURLToPath(packageFile('.'))
const cache = packageFile('node_modules/.cache/')
const stampFile = new URL('weft-generated.json', cache)

/**
 * Writes the generated files. Does nothing if neither they nor their sources have changed since the last time.
 * @throws the error of the compiler or of the program that generates them
 */
export async function updateGeneratedFiles(): Promise<void> {
  writeChanged(packageFile(operationListPath), operationListText())
  if (areCurrent()) return
  // One file with all sources loads faster than hundreds of files.
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/build/package-api/main.ts'],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
    write: false,
    metafile: true,
  })
  const printed = execFileSync(process.execPath, ['--input-type=module'], {
    cwd: root,
    input: outputFiles[0]?.contents ?? '',
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const texts = JSON.parse(printed) as Readonly<Record<PrintedPath, string>>
  for (const path of printedPaths) writeChanged(packageFile(path), texts[path])
  const inputs = Object.keys(metafile.inputs)
  mkdirSync(cache, { recursive: true })
  writeFileSync(stampFile, JSON.stringify({ inputs, hash: hashOf(inputs) } satisfies Stamp))
}

function areCurrent(): boolean {
  if (!existsSync(stampFile)) return false
  const { inputs, hash } = JSON.parse(readFileSync(stampFile, 'utf8')) as Stamp
  return (
    [...inputs, ...generatedPaths].every((path) => existsSync(packageFile(path))) && hashOf(inputs) === hash
  )
}

/** Returns the SHA-256 of sources and of the generated files. */
function hashOf(inputs: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of [...inputs, ...generatedPaths])
    hash.update(`${path}\0`).update(readFileSync(packageFile(path)))
  return hash.digest('hex')
}

/** Keeps the time of a file that has the text already, so that nothing that depends on it is done again. */
function writeChanged(file: URL, text: string): void {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}
