import { endWithParent } from '../cli/end-with-parent.ts'

/** Implements `npm start`. It runs the command line as a child of the shell that npm starts. */
endWithParent()
await import('../main.ts')
