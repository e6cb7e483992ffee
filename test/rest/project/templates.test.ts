import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { templateNames } from '../../../src/cli/project-template.ts'
import { readPackageVersion } from '../../../src/core/base/package-version.ts'
import { runCli } from '../../support/servers/cli.ts'

interface Manifest {
  readonly name: string
  readonly private: boolean
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'weft-init-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(cwd, folder, 'package.json'), 'utf8')) as Manifest

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()

const root = join(import.meta.dirname, '../../..')
const templates = join(root, 'src/templates')

it('[TPL-1] every folder of src/templates except the shared files is a template', () => {
  expect(readdirSync(templates).toSorted()).toEqual([...templateNames, 'shared'].toSorted())
})

it('[TPL-1] no file is in src/templates twice, and every shared file is in at least two templates', async () => {
  const texts = filesIn(templates).map((file) => readFileSync(file, 'utf8'))
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  const created = templateNames.map(async (template) => {
    await runCli(['init', template, '--template', template], cwd)
    return filesIn(join(cwd, template)).map((file) => readFileSync(file, 'utf8'))
  })
  const projects = await Promise.all(created)
  const isShared = (text: string): boolean => projects.filter((files) => files.includes(text)).length >= 2
  const shared = filesIn(join(templates, 'shared'))
  expect(shared.filter((file) => !isShared(readFileSync(file, 'utf8')))).toEqual([])
})

describe.each(templateNames)('the template %s', (template) => {
  it('[TPL-1] is an app with the name of its directory, this version of Weft, and exact versions', async () => {
    const { code, out } = await runCli(['init', 'My App', '--template', template, '--json'], cwd)
    expect(code).toBe(0)
    const result = JSON.parse(out) as { readonly files: readonly string[] }
    expect(result).toMatchObject({ ok: true, directory: 'My App', template })
    expect(result.files.map((file) => join(cwd, file)).toSorted()).toEqual(filesIn(join(cwd, 'My App')))
    const { name, scripts, dependencies, devDependencies, ...others } = manifestIn('My App')
    expect({ name, ...others }).toMatchObject({ name: 'my-app', private: true })
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['dev', 'build', 'start']))
    const { 'weft-server': own, ...foreign } = dependencies
    // The packed file of this clone.
    expect(own).toBe(`file:${join(root, `weft-server-${readPackageVersion()}.tgz`)}`)
    const versions = Object.entries({ ...foreign, ...devDependencies })
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })

  it('[TPL-1] has a README whose table and links name files of the app', async () => {
    await runCli(['init', '.', '--template', template], cwd)
    const readme = readFileSync(join(cwd, 'README.md'), 'utf8')
    const named = [...readme.matchAll(/^\| `(.*?)` \||\]\((?!https?:)(.*?)\)/gm)].map(
      ([, row, link]) => row ?? link,
    )
    expect(named).toEqual(expect.arrayContaining(['demo-sign-in.js', 'PRODUCTION.md']))
    expect(named.filter((file) => !existsSync(join(cwd, file as string)))).toEqual([])
  })

  it('[TPL-1] has a file with which Git ignores the documents and the packages', async () => {
    await runCli(['init', '.', '--template', template], cwd)
    const sources = filesIn(cwd).map((file) => readFileSync(file, 'utf8'))
    const [, data = ''] = /dataDir: '\.\/([\w-]+)'/.exec(sources.join('\n')) ?? []
    expect(data).not.toBe('')
    for (const folder of [data, 'node_modules/left']) {
      mkdirSync(join(cwd, folder), { recursive: true })
      writeFileSync(join(cwd, folder, 'secret'), '')
    }
    execFileSync('git', ['init', '--quiet'], { cwd })
    const untracked = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], {
      cwd,
      encoding: 'utf8',
    })
    expect(untracked).toContain('package.json')
    expect(untracked).not.toContain('secret')
  })
})

it('[TPL-1] the next steps contain the directory as one word of a shell', async () => {
  const { out } = await runCli(['init', "Ann's app", '--template', templateNames[0]], cwd)
  const enter = /^ {2}cd (.*) && npm install/m.exec(out)?.[1] ?? ''
  const files = execFileSync('sh', ['-c', `cd ${enter} && ls`], { cwd, encoding: 'utf8' })
  expect(files).toContain('package.json')
})

it.each([
  ['.hidden', 'hidden'],
  ['Äpfel_1.2', 'pfel_1.2'],
  ['編集', 'weft-app'],
  ['weft-server', 'weft-server-app'],
  ['x'.repeat(230), 'x'.repeat(210)],
])('[TPL-1] an app in the directory %s is the package %s', async (directory, name) => {
  expect(await runCli(['init', directory, '--template', templateNames[0]], cwd)).toMatchObject({ code: 0 })
  expect(manifestIn(directory).name).toBe(name)
})

it('[TPL-2] an existing file stays as it is, and no other file is created', async () => {
  writeFileSync(join(cwd, 'package.json'), 'own')
  const { code, err } = await runCli(['init', '--template', templateNames[0]], cwd)
  expect({ code, err }).toEqual({
    code: 2,
    err: 'weft: package.json already exists, and nothing was changed; name another directory\n',
  })
  expect(readdirSync(cwd)).toEqual(['package.json'])
  expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe('own')
})

it('[TPL-2] an app can be created in a directory with other files', async () => {
  writeFileSync(join(cwd, 'LICENSE'), 'own')
  expect(await runCli(['init', '--template', templateNames[0]], cwd)).toMatchObject({ code: 0 })
  expect(readFileSync(join(cwd, 'LICENSE'), 'utf8')).toBe('own')
})

it('[TPL-2] the error for an unknown template lists the templates, also as JSON', async () => {
  const { code, out, err } = await runCli(['init', 'app', '--template', 'tiptap', '--json'], cwd)
  expect(code).toBe(2)
  const { error } = JSON.parse(out) as { readonly error: { readonly message: string } }
  expect(err).toContain(error.message)
  for (const name of templateNames) expect(error.message).toContain(name)
  expect(existsSync(join(cwd, 'app'))).toBe(false)
})

it('[TPL-2] a template cannot be combined with secrets of a deployment', async () => {
  const { code, err } = await runCli(['init', '--env', '--template', templateNames[0]], cwd)
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('cannot be used with option') })
  expect(readdirSync(cwd)).toEqual([])
})
