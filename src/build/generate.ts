import { updateGeneratedFiles } from './generated-files.ts'

/**
 * Implements `npm run generate`. npm also runs it after `npm ci`, as `prepare`, if the development packages are
 * installed.
 */
await updateGeneratedFiles()
