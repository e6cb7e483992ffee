import { addCopyButtons } from './copy-buttons.ts'
import { startTryForms } from './try-form.ts'

/** The script of the pages of the documentation. The pages are complete without it. */
addCopyButtons()
startTryForms()
