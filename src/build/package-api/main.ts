import { apiFiles } from './api-files.ts'

/** Prints the texts of the generated files as JSON. */
process.stdout.write(JSON.stringify(apiFiles()))
