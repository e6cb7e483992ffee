import { readFileSync } from 'node:fs'
import { packageFile } from '../core/base/package-file.ts'
import { buildFolders } from './build-folders.ts'
import { installedLibraries } from './bundles.ts'
import { licensedPackages } from './licenses.ts'

/**
 * Prints the `package.json` of the container image. Its only dependencies are the libraries that the build does
 * not contain, so `npm prune` with this manifest leaves nothing else in `node_modules`. With the argument
 * `libraries`, the dependencies are also the libraries in `dist`, for an SBOM and an audit of all shipped code.
 */
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** Members that belong to the repository and not to an installed server. */
const ofRepository = ['scripts', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta']

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest

const shipped = process.argv[2] === 'libraries' ? licensedPackages(buildFolders.start) : []
const needed = new Set<string>([...installedLibraries, ...shipped])
const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
const dependencies = Object.fromEntries(versions.filter(([name]) => needed.has(name)))
const members = Object.entries(manifest).filter(([name]) => !ofRepository.includes(name))
process.stdout.write(`${JSON.stringify({ ...Object.fromEntries(members), dependencies }, null, 2)}\n`)
