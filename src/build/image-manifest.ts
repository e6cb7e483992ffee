import { readFileSync } from 'node:fs'
import { packageFile } from '../config/package-file.ts'
import { installedLibraries } from './bundles.ts'

/**
 * Prints the `package.json` of the container image. Its only dependencies are the libraries that the build does
 * not contain, so `npm prune` with this manifest leaves nothing else in `node_modules`.
 */
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Members that belong to the repository and not to an installed server. */
const ofRepository = ['scripts', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta']

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest

const needed = installedLibraries.map((name) => {
  const version = manifest.dependencies[name]
  if (version === undefined) throw new Error(`package.json has no dependency ${name}`)
  return [name, version] as const
})
const members = Object.entries(manifest).filter(([name]) => !ofRepository.includes(name))
const written = { ...Object.fromEntries(members), dependencies: Object.fromEntries(needed) }
process.stdout.write(`${JSON.stringify(written, null, 2)}\n`)
