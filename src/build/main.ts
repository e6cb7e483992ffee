import { build } from './build.ts'
import { buildFolders } from './build-folders.ts'

/** Runs `npm run build`. With the argument `test`, it makes the build for the tests. */
await build(process.argv[2] === 'test' ? buildFolders.test : buildFolders.start)
