// The browser's Python, in a worker. It can be stopped at any time, and starts again with nothing lost: the page keeps
// all files, and sends them with each request.
const SILENCE_SECONDS = 20; // beyond the time that the current call may take

export class Python {
  constructor(course, show) {
    this.course = course;
    this.show = show; // gets the words and the share of the start, {text, share}
    this.waiting = null; // the request that is being answered
    this.start();
  }

  start() {
    this.isUp = false;
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = event => this.crash(event.message || "the script of the worker could not be loaded");
    this.worker.postMessage({ type: "start", python: this.course.python });
    this.show({ text: "Python is starting …", share: 0 });
  }

  // Return the answer to one request; `tell` gets output while it appears. Before Python is ready, the request waits.
  ask(request, tell) {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject, tell, request };
      if (this.isUp) this.send();
    });
  }

  send() {
    this.watch(SILENCE_SECONDS);
    this.worker.postMessage({ type: "ask", request: JSON.stringify(this.waiting.request) });
  }

  watch(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const words = this.course.endings.deadline;
      this.stop(`Your code ${words} (${Math.round(seconds)} s), and could only be ended together with Python.`);
    }, seconds * 1000);
  }

  receive(data) {
    if (data.type === "start") this.show(data);
    if (data.type === "ready") {
      this.isUp = true;
      this.show({ text: "Python is ready", share: 1 });
      if (this.waiting) this.send();
    }
    if (data.type === "again") { // the kept copy of Python's memory was of no use, and is gone
      this.worker.terminate();
      this.start();
    }
    if (data.type === "fault") this.crash(data.text);
    if (!this.waiting) return;
    if (data.type === "alive") this.watch(data.seconds + SILENCE_SECONDS);
    if (data.type === "told") this.waiting.tell(data.text);
    if (data.type === "answer") this.settle(waiting => waiting.resolve(JSON.parse(data.reply)));
  }

  settle(how) {
    clearTimeout(this.timer);
    const { waiting } = this;
    this.waiting = null;
    if (waiting) how(waiting);
  }

  stop(words) {
    if (!this.isUp) { // nothing runs yet
      this.settle(waiting => waiting.reject(new Error("Stopped.")));
      return;
    }
    this.worker.terminate();
    this.settle(waiting => waiting.reject(new Error(`${words} Python starts again. Your files are kept.`)));
    this.start();
  }

  crash(text) {
    if (this.isUp && this.waiting) {
      this.stop(`Your code ${this.course.endings.crash}: ${text.slice(0, 300)}`);
      return;
    }
    this.worker.terminate();
    this.settle(waiting => waiting.reject(new Error("Python could not start.")));
    this.show({ text: `Python could not start: ${text.slice(0, 300)} Reload the page to try again.`, share: 0, failed: true });
  }
}
