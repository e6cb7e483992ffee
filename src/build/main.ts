import { buildFolders } from './build-folders.ts'
import { type BuiltPart, isCurrent } from './build-stamps.ts'

/** Runs `npm run build`. With the argument `programs`, it builds only what `npm start` needs. */
const part: BuiltPart = process.argv[2] === 'programs' ? 'programs' : 'package'
// The compiler is loaded only for a build, so that a start without one is quick.
if (!isCurrent(buildFolders.start, part)) {
  const { buildPackage, buildPrograms } = await import('./build.ts')
  await (part === 'programs' ? buildPrograms : buildPackage)(buildFolders.start)
}
