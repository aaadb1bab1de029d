"""What an agent of customer care does in a message."""

from empathia.task import Choices, Task

TASK = Task(
    name="service",
    question="What does the agent do in this message?",
    on="reply",
    corpora=("care",),
    model="window",
    outputs={
        "service": Choices(
            question="What does the agent do in this message?",
            silver=True,
            labels={
                "ask_contact": "asks for a name, number, address or another way to identify or reach the customer",
                "ask_details": "asks for more about the problem",
                "ask_confirmation": "asks whether something about the problem was understood rightly",
                "aware_problem": "shows that the problem is known to the agent",
                "describe_problem": "says in the agent's words what the problem is",
                "express_sympathy": "feels with the customer",
                "express_reassurance": "promises support or takes away worry",
                "express_apology": "says sorry for what happened",
                "answer_question": "answers what the customer asked",
                "clarify": "clears up a misunderstanding",
                "explain": "says why the problem arose",
                "excuse": "says why the problem cannot be solved",
                "inform_action": "tells what was already done about it",
                "instruct_action": "tells the customer what to do, step by step or by a link",
                "tentative_solution": "offers something that may help for now or might work",
                "contact_others": "sends the customer to another person, team or channel",
            },
        )
    },
)
