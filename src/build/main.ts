import { buildPackage, buildPrograms } from './build.ts'
import { buildFolders } from './build-folders.ts'

/** Runs `npm run build`. With the argument `programs`, it builds only what `npm start` needs. */
await (process.argv[2] === 'programs' ? buildPrograms : buildPackage)(buildFolders.start)
