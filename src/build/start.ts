import { endWithParent } from './end-with-parent.ts'

/** `npm start`: the command line, as a child of the shell that npm starts. */
endWithParent()
await import('../main.ts')
