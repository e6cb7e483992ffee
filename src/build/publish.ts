import { fileURLToPath } from 'node:url'
import { packageFile } from '../core/base/package-file.ts'
import { buildFolders } from './build-folders.ts'
import { clientPackages } from './client-packages.ts'
import { publishPackages } from './publish-packages.ts'

/**
 * Implements `npm run release:publish`, which publishes the built packages for pages, and then the server. Options of
 * npm are possible, such as `-- --dry-run`.
 */
const paths = Object.keys(clientPackages).map((entry) => `${buildFolders.start}packages/${entry}`)
const folders = [...paths, '.'].map((path) => fileURLToPath(packageFile(path)))
await publishPackages(folders, process.argv.slice(2))
