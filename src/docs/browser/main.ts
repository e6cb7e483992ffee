import { addCopyButtons } from './copy-buttons.ts'
import { startSearchBox } from './search-box.ts'
import { startTryForms } from './try-form.ts'

/** The script of the pages of the documentation. The pages are complete without it. */
addCopyButtons()
startTryForms()
startSearchBox()
