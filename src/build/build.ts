import { execSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { packageFile } from '../config/package-file.ts'
import { buildDocs } from '../docs/build.ts'
import { browserPackage, clientScript, copyPages, docsScripts, pages, programs, styles } from './bundles.ts'
import { updateGeneratedFiles } from './generated-files.ts'
import { writeLicenses } from './licenses.ts'
import { compileEntryPointTypes } from './package-types.ts'
import { writeSearchIndex } from './search-index.ts'
import { copyTemplates } from './templates.ts'

const root = fileURLToPath(packageFile('.'))

/**
 * Checks the types, and builds everything into the folder. Does nothing if the folder already has a build of
 * the same sources.
 * @throws the error of the compiler or of a step; the folder then has no build
 */
export async function build(folder: string): Promise<void> {
  await updateGeneratedFiles()
  const stamp = packageFile(`${folder}SOURCES`)
  const hash = sourceHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  for (const project of ['src/console', 'src/playground', 'src/docs/browser', 'src/client'])
    execSync(`npx tsc -p ${project}`, { cwd: root, stdio: 'inherit' })
  const types = compileEntryPointTypes(root)
  rmSync(packageFile(folder), { recursive: true, force: true })
  await buildUnchecked(folder)
  for (const { name, declarations } of types)
    writeFileSync(packageFile(`${folder}package/${name}.d.ts`), declarations)
  writeLicenses(folder)
  writeFileSync(stamp, hash)
}

/**
 * Builds the programs, the pages and the documentation without a check of the types. Files of a previous
 * build stay.
 * @throws the error of the compiler
 */
export async function buildUnchecked(folder: string): Promise<void> {
  await updateGeneratedFiles()
  await Promise.all(
    [
      programs(folder),
      pages(folder),
      styles(folder),
      docsScripts(folder),
      clientScript(folder),
      browserPackage(folder),
    ].map((options) => bundle(options)),
  )
  copyPages(folder)
  copyTemplates(folder)
  buildDocs(folder)
  writeSearchIndex(folder)
}

/**
 * Returns the SHA-256 of the sources, and of the files that determine the packages and the compiler options.
 */
function sourceHash(): string {
  const hash = createHash('sha256')
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', ...sources.sort()])
    hash.update(`${file}\0`).update(readFileSync(join(file.startsWith(root) ? '' : root, file)))
  return hash.digest('hex')
}
