import { existsSync, readFileSync } from 'node:fs'
import { constants, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJson } from '../core/base/json.ts'
import { builtFile, packageFile } from '../core/base/package-file.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import * as s from '../core/base/schema.ts'

/** Names of the templates of `weft init`, each a folder of `src/templates`. */
export const templateNames = ['tiptap-express', 'tiptap-next', 'codemirror-vite', 'blocknote'] as const
export type TemplateName = (typeof templateNames)[number]

/** Maximum length of the name of an npm package. */
const packageNameMax = 214
const packageSchema = s.object({
  name: s.string,
  dependencies: s.object({ 'weft-server': s.string }),
})

const folderOf = (template: TemplateName): string => fileURLToPath(builtFile(`templates/${template}`))

/** npm does not pack files with this name, so templates store it without the dot. */
const nameInProject = (path: string): string =>
  basename(path) === 'gitignore' ? join(dirname(path), '.gitignore') : path

/** Returns the paths of the files of a project from the template, relative to the project. */
export async function projectFiles(template: TemplateName): Promise<readonly string[]> {
  const paths = await templateFiles(template)
  return paths.map(nameInProject)
}

/** Returns the paths of the files of a template, relative to its folder. */
async function templateFiles(template: TemplateName): Promise<readonly string[]> {
  const folder = folderOf(template)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).toSorted()
}

/**
 * Creates a project from a template. The name of its package is the one of the directory, and it depends on this
 * version of Weft.
 * @throws the error of the file system, also if a file exists
 */
export async function createProject(template: TemplateName, directory: string): Promise<void> {
  for (const path of await templateFiles(template)) {
    const [from, to] = [join(folderOf(template), path), join(directory, nameInProject(path))]
    await mkdir(dirname(to), { recursive: true })
    if (path === 'package.json')
      await writeFile(to, packageFor(directory, await readFile(from, 'utf8')), { flag: 'wx' })
    else await copyFile(from, to, constants.COPYFILE_EXCL)
  }
}

function packageFor(directory: string, text: string): string {
  const manifest = readJson(packageSchema, text)
  const dependencies = { ...manifest.dependencies, 'weft-server': ownSource() }
  const name = packageNameOf(directory, Object.keys(dependencies))
  return `${JSON.stringify({ ...manifest, name, dependencies }, null, 2)}\n`
}

/** The packages that npm has installed in a folder, by their places in it. */
const installedSchema = s.object({ packages: s.map(s.object({}, { resolved: s.string })) })

/** The packed file of this clone of the repository, which `npm pack` writes; null if this program is installed. */
export const packedInClone: string | null = existsSync(packageFile('src'))
  ? fileURLToPath(packageFile(`weft-server-${readPackageVersion()}.tgz`))
  : null

/** Returns the source from which npm installs this version: the packed file, if this program is from one, or the version. */
function ownSource(): string {
  if (packedInClone !== null) return `file:${packedInClone}`
  const folder = fileURLToPath(packageFile('../..'))
  const record = join(folder, 'node_modules/.package-lock.json')
  const { packages } = existsSync(record)
    ? readJson(installedSchema, readFileSync(record, 'utf8'))
    : { packages: {} }
  const source = packages['node_modules/weft-server']?.resolved ?? ''
  return source.startsWith('file:')
    ? `file:${resolve(folder, source.slice('file:'.length))}`
    : readPackageVersion()
}

/** Returns a valid name for the package in the directory. npm rejects a package with the name of a dependency. */
function packageNameOf(directory: string, dependencies: readonly string[]): string {
  const name = basename(resolve(directory))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, packageNameMax - '-app'.length)
  if (name === '') return 'weft-app'
  return dependencies.includes(name) ? `${name}-app` : name
}
