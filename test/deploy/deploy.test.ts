import './chart-rules.ts'
import './compose-rules.ts'
