/** The pages of what was recorded, one script: each leads to the others. */

export { Insights } from './insights.js';
export { People } from './people.js';
export { Person } from './person.js';
export { Recording } from './recording.js';
export { Search } from './search.js';
export { Today } from './today.js';
