import { build } from './build.ts'
import { buildFolders } from './build-folders.ts'

/** `npm run build`; with `test`, the build that the tests use. */
await build(process.argv[2] === 'test' ? buildFolders.test : buildFolders.start)
