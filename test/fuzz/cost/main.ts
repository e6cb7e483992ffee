import { buildFolders } from '../../../src/build/build-folders.ts'
import { type Group, groups } from './groups.ts'

/**
 * Runs one group of cost tests in its own process: node main.js <group> <seconds> <search seconds> <seed>. Without a
 * bundle: node --import tsx main.ts with the same arguments.
 */
// A bundle states the folder of the build. Without one, this does.
Object.assign(globalThis, { BUILD_FOLDER: buildFolders.test })

const [name = '', seconds = '10', searchSeconds = '10', seed = '1'] = process.argv.slice(2)
const load = groups.get(name)
if (load === undefined)
  throw new Error(`unknown group "${name}"; expected one of ${[...groups.keys()].join(', ')}`)
const group: Group = await load()
const { findings, notes } = await group({
  seconds: Number(seconds),
  searchSeconds: Number(searchSeconds),
  seed: Number(seed),
})
process.stdout.write(`${JSON.stringify({ findings, notes })}\n`)
process.exit(0)
