// Runs the checker of a page beside the page, which stays awake: the text of the element "checker" is check.js.
"use strict";
let checkingWorker = null;

/** Check the text of a file; onShare(share) tells how much is done, onEnd(statement, proved) what came out. */
function checkInWorker(text, onShare, onEnd) {
  const source = `${document.getElementById("checker").textContent}
onmessage = (message) => {
  let said, proved = true;
  try {
    said = checkText(message.data, (share) => postMessage({ share }));
  } catch (error) {
    [said, proved] = ["NOT PROVED: " + error.message, false];
  }
  postMessage({ said, proved });
};`;
  if (checkingWorker) checkingWorker.terminate();
  checkingWorker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  checkingWorker.onmessage = ({ data }) => {
    if (data.share === undefined) onEnd(data.said, data.proved);
    else onShare(data.share);
  };
  checkingWorker.onerror = (error) => onEnd(`NOT PROVED: ${error.message}`, false);
  checkingWorker.postMessage(text);
}
