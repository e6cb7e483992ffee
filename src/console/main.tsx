import { render } from 'preact'
import { App } from './app.tsx'

const place = document.getElementById('app')
// Removes the static content, which is help for browsers in which this script does not run.
place?.replaceChildren()
if (place !== null) render(<App />, place)
