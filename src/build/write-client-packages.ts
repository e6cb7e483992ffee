import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../core/base/package-file.ts'
import { type ClientPackage, clientPackages } from './client-packages.ts'
import type { EntryPointTypes } from './package-types.ts'

const provider = clientPackages.provider.name

interface ServerManifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly repository?: unknown
  readonly publishConfig: unknown
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * Completes the folders of the packages, in which the scripts are already: types, manifest, license and README.
 * @param types the types of the entry points of the server
 */
export function writeClientPackages(folder: string, types: readonly EntryPointTypes[]): void {
  const server = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as ServerManifest
  for (const [entry, described] of Object.entries(clientPackages)) {
    const write = (file: string, text: string): void =>
      writeFileSync(packageFile(`${folder}packages/${entry}/${file}`), text)
    const declarations = types.find(({ name }) => name === entry)?.declarations ?? ''
    write('index.d.ts', declarations.replaceAll(`'${server.name}/provider'`, `'${provider}'`))
    write('package.json', `${JSON.stringify(manifestOf(described, server), null, 2)}\n`)
    write('README.md', readmeOf(described))
    copyFileSync(packageFile('LICENSE'), packageFile(`${folder}packages/${entry}/LICENSE`))
  }
}

/** Returns the manifest of a package, with the version of the server and its versions of other packages. */
function manifestOf({ name, description, dependencies, peers }: ClientPackage, server: ServerManifest) {
  const { version, license, repository, publishConfig } = server
  const known: Readonly<Record<string, string>> = {
    ...server.peerDependencies,
    ...server.dependencies,
    [provider]: version,
  }
  const versionsOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((each) => [each, known[each]]))
  return {
    name,
    version,
    description,
    license,
    repository,
    publishConfig,
    type: 'module',
    sideEffects: false,
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    dependencies: versionsOf(dependencies),
    peerDependencies: versionsOf(peers),
  }
}

const readmeOf = ({ name, description, peers }: ClientPackage): string => `# ${name}

${description}.

\`\`\`sh
npm install ${[name, ...peers].join(' ')}
\`\`\`

Each Weft server has the documentation of this package at \`/docs/client\`.
`
