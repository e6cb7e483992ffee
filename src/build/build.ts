import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { packageFile } from '../core/base/package-file.ts'
import { buildFolders } from './build-folders.ts'
import {
  browserPackage,
  clientScript,
  copyPages,
  docsScripts,
  packagesForPages,
  pages,
  programs,
  styles,
} from './bundles.ts'
import { entryPoints } from './client-packages.ts'
import { updateGeneratedFiles } from './generated-files.ts'
import { writeLicenses } from './licenses.ts'
import type { EntryPointTypes } from './package-types.ts'
import { copyTemplates } from './templates.ts'
import { writeClientPackages } from './write-client-packages.ts'

const root = fileURLToPath(packageFile('.'))

/**
 * Builds the programs, the pages and the documentation, with the licenses of the libraries in them. Does not check
 * types. Does nothing if the folder already has a build of the same sources.
 * @throws the error of the compiler; the folder then has no build
 */
export async function buildPrograms(folder: string): Promise<void> {
  await updateGeneratedFiles()
  if (isCurrent(folder, programsStamp)) return
  rmSync(packageFile(folder), { recursive: true, force: true })
  const built = await Promise.all(
    [programs, pages, styles, docsScripts, clientScript, browserPackage].map((options) =>
      bundle({ ...options(folder), metafile: true }),
    ),
  )
  const outputs = built.flatMap(({ metafile }) => Object.values(metafile.outputs))
  writeLicenses(
    folder,
    outputs.flatMap(({ inputs }) => Object.keys(inputs)),
  )
  copyPages(folder)
  copyTemplates(folder)
  // It reads all operations. Loading its bundle takes a third of the time of loading its sources.
  const pagesProgram = `${packageFile(`${folder}build/reference.js`).href}?${sourceHash()}`
  const { writePages } = (await import(pagesProgram)) as typeof import('./reference.ts')
  writePages(folder)
  markCurrent(folder, programsStamp)
}

/**
 * Builds what the packages contain: the programs, the declarations of the entry points, and the folders of the
 * packages for pages. Does nothing if the folder already has packages of the same sources.
 * @throws the error of the compiler or of a step
 */
export async function buildPackage(folder: string): Promise<void> {
  await updateGeneratedFiles()
  if (isCurrent(folder, packageStamp)) return
  const types = await entryPointTypes()
  await buildPrograms(folder)
  for (const { name, declarations } of types)
    writeFileSync(packageFile(`${folder}package/${name}.d.ts`), declarations)
  await bundle(packagesForPages(folder))
  writeClientPackages(folder, types)
  markCurrent(folder, packageStamp)
}

/**
 * Returns the types of the entry points. Reads them from a build of the same sources if a folder has one, because
 * compiling them takes most of the time of a build.
 * @throws the error of the compiler
 */
export async function entryPointTypes(): Promise<readonly EntryPointTypes[]> {
  const built = Object.values(buildFolders).find((folder) => isCurrent(folder, packageStamp))
  if (built === undefined) {
    const { compileEntryPointTypes } = await import('./package-types.ts')
    return compileEntryPointTypes(root)
  }
  return Object.keys(entryPoints).map((name) => ({
    name,
    declarations: readFileSync(packageFile(`${built}package/${name}.d.ts`), 'utf8'),
  }))
}

/** Files of a build with the hash of the sources from which its programs, or all of the package, were built. */
const programsStamp = 'SOURCES'
const packageStamp = 'build/PACKAGE'

function isCurrent(folder: string, stamp: string): boolean {
  const file = packageFile(folder + stamp)
  return existsSync(file) && readFileSync(file, 'utf8') === sourceHash()
}

const markCurrent = (folder: string, stamp: string): void =>
  writeFileSync(packageFile(folder + stamp), sourceHash())

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
