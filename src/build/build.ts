import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { packageFile } from '../core/base/package-file.ts'
import { buildFolders } from './build-folders.ts'
import { isCurrent, markCurrent, sourceHash } from './build-stamps.ts'
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
  if (isCurrent(folder, 'programs')) return
  await updateGeneratedFiles()
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
  markCurrent(folder, 'programs')
}

/**
 * Builds what the packages contain: the programs, the declarations of the entry points, and the folders of the
 * packages for pages. Does nothing if the folder already has packages of the same sources.
 * @throws the error of the compiler or of a step
 */
export async function buildPackage(folder: string): Promise<void> {
  if (isCurrent(folder, 'package')) return
  await updateGeneratedFiles()
  const types = await entryPointTypes()
  await buildPrograms(folder)
  for (const { name, declarations } of types)
    writeFileSync(packageFile(`${folder}package/${name}.d.ts`), declarations)
  await bundle(packagesForPages(folder))
  writeClientPackages(folder, types)
  markCurrent(folder, 'package')
}

/**
 * Returns the types of the entry points. Reads them from a build of the same sources if a folder has one, because
 * compiling them takes most of the time of a build.
 * @throws the error of the compiler
 */
export async function entryPointTypes(): Promise<readonly EntryPointTypes[]> {
  const built = Object.values(buildFolders).find((folder) => isCurrent(folder, 'package'))
  if (built === undefined) {
    const { compileEntryPointTypes } = await import('./package-types.ts')
    return compileEntryPointTypes(root)
  }
  return Object.keys(entryPoints).map((name) => ({
    name,
    declarations: readFileSync(packageFile(`${built}package/${name}.d.ts`), 'utf8'),
  }))
}
